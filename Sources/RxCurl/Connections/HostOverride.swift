extension CurlTransport {
    /// The fixed addresses of a host (`CURLOPT_RESOLVE`).
    public struct HostOverride: Sendable, Equatable {
        /// The name in URLs, in ASCII; `*` for every name that has no other override.
        public var host: String
        /// The port in URLs.
        public var port: Int
        /// IPv4 or IPv6 addresses, tried in this order.
        public var addresses: [String]

        /// Creates an override.
        public init(host: String, port: Int, addresses: [String]) {
            self.host = host
            self.port = port
            self.addresses = addresses
        }

        /// The line for curl. Requires that ``flaw`` is `nil`.
        var text: String { "\(host):\(port):\(addresses.joined(separator: ","))" }

        /// The reason why the override cannot be passed to curl; `nil` if it can.
        var flaw: String? {
            guard host == "*" || HostText.isName(host) else {
                return "\(host.debugDescription) is not a host name"
            }
            guard 1...65535 ~= port else { return "\(port) is not a port" }
            guard !addresses.isEmpty else { return "\(host) has no address" }
            return addresses.first { !HostText.isAddress($0) }
                .map { "\($0.debugDescription) is not an address" }
        }
    }
}
