extension CurlTransport {
    /// A host and port to connect to instead of those in a URL (`CURLOPT_CONNECT_TO`).
    ///
    /// Everything else follows the URL: the `Host` field, the name that TLS verifies, cookies, and the origin
    /// in connection limits. Over an HTTP proxy such a connection uses a tunnel.
    ///
    /// ```swift
    /// configuration.connectTo = [.init(host: "api.example.com", port: 443, toHost: "canary.example.net", toPort: 8443)]
    /// ```
    public struct ConnectTo: Sendable, Equatable {
        /// The host in URLs: an ASCII name or an address; `nil` for any host.
        public var host: String?
        /// The port in URLs; `nil` for any port.
        public var port: Int?
        /// The host to connect to: a name or an address; `nil` for the host of the URL.
        public var toHost: String?
        /// The port to connect to; `nil` for the port of the URL.
        public var toPort: Int?

        /// Creates an override.
        public init(host: String? = nil, port: Int? = nil, toHost: String? = nil, toPort: Int? = nil) {
            self.host = host
            self.port = port
            self.toHost = toHost
            self.toPort = toPort
        }

        /// The line for curl. Requires that ``flaw`` is `nil`.
        var text: String {
            let ports = [port, toPort].map { $0.map(String.init) ?? "" }
            let hosts = [host, toHost].map { $0.map(HostText.bracketed) ?? "" }
            return "\(hosts[0]):\(ports[0]):\(hosts[1]):\(ports[1])"
        }

        /// The reason why the override cannot be passed to curl; `nil` if it can.
        var flaw: String? {
            let host = [host, toHost].lazy.compactMap(\.self)
                .first { !HostText.isName($0) && !HostText.isAddress($0) }
            if let host { return "\(host.debugDescription) is not a host" }
            let port = [port, toPort].lazy.compactMap(\.self).first { !(1...65535 ~= $0) }
            return port.map { "\($0) is not a port" }
        }
    }
}
