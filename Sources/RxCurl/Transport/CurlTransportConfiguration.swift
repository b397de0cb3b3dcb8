public import RxHTTP

extension CurlTransport {
    /// The settings of all transfers of a transport.
    public struct Configuration: Sendable {
        /// The highest HTTP version. Default ``HTTPVersion/automatic``.
        public var httpVersion = HTTPVersion.automatic
        /// The file that saves which origins speak HTTP/3 (`Alt-Svc`) for the next process, in [curl's
        /// format](https://curl.se/docs/alt-svc.html). Each save replaces the file, with mode 0600; it is
        /// read before the first https request. Used only if requests ask for HTTP/3. Default `nil`: origins
        /// are remembered in memory.
        public var alternativeServicesPath: String?
        /// Called on a loop with the error if that file cannot be read or written; requests continue without
        /// it. A file that could not be read is not replaced. Default `nil`: errors are ignored.
        public var onAlternativeServicesFailure: (@Sendable (NetworkError) -> Void)?

        // Connections

        /// The maximum number of connections to one origin in use at a time; further requests wait in a fair
        /// queue, for at most ``Timeouts/queue``. Over HTTP/2 a connection counts for a hundred requests.
        /// `nil` for no limit. Default 256.
        public var maxConnectionsPerOrigin: Int? = 256
        /// The number of these connections that are opened immediately. A request that finds all of them in
        /// use waits for a free one, and only after ``connectionDelay`` another one is opened: a fast server
        /// is fastest over few connections, a slow one over many. `nil` opens all immediately. Default 64.
        public var promptConnectionsPerOrigin: Int? = 64
        /// How long a request waits before it opens a connection beyond ``promptConnectionsPerOrigin``.
        /// Default 50 ms.
        public var connectionDelay = Duration.milliseconds(50)
        /// The maximum number of connections to all origins in use at a time; `nil` for no limit. Over HTTP/2 a
        /// connection counts for a hundred requests. The usual limit of a process is 1,024 descriptors. Default 512.
        public var maxConnections: Int? = 512
        /// The maximum number of idle connections, in addition to those in use (`CURLMOPT_MAXCONNECTS`).
        /// Default 256.
        public var maxIdleConnections = 256
        /// How long an idle connection may be reused, in whole seconds (`CURLOPT_MAXAGE_CONN`). Less than a
        /// second closes each connection after its last transfer (`CURLOPT_FORBID_REUSE`). Default 60 s; most
        /// servers close idle connections later than that.
        public var idleConnectionLifetime = Duration.seconds(60)
        /// The age up to which a connection may be reused, in whole seconds (`CURLOPT_MAXLIFETIME_CONN`), so
        /// that a change of the name's addresses is noticed. Default `nil`: no limit.
        public var connectionLifetime: Duration?

        // Names and addresses

        /// How long a resolved name is cached, in whole seconds (`CURLOPT_DNS_CACHE_TIMEOUT`). Default 60 s.
        public var nameLifetime = Duration.seconds(60)
        /// Fixed addresses of hosts, used without a resolver (`CURLOPT_RESOLVE`). They apply to all requests
        /// of the transport, to the names of proxies and to the names in ``connectTo``, and do not expire
        /// with ``nameLifetime``. Default empty: all names are resolved.
        public var hostOverrides: [HostOverride] = []
        /// Hosts and ports to connect to instead of those in URLs (`CURLOPT_CONNECT_TO`). The first match
        /// applies. Default empty: connections go to the host of the URL.
        public var connectTo: [ConnectTo] = []
        /// The URL of a DNS server that resolves names over HTTPS (RFC 8484, `CURLOPT_DOH_URL`), such as
        /// `https://dns.example/dns-query`. Its certificate is verified according to ``tls``. The system
        /// resolves the name of the DNS server, unless it is an address or in ``hostOverrides``. If the
        /// server cannot be reached, requests fail with ``NetworkError/Code/resolve``. Connecting takes at most
        /// five minutes. Default `nil`: the system resolves all names.
        public var dnsOverHTTPS: String?
        /// The kind of addresses to use (`CURLOPT_IPRESOLVE`). Default both.
        public var addressFamily = AddressFamily.any
        /// The head start of IPv6 before IPv4 is tried as well (RFC 8305 §5,
        /// `CURLOPT_HAPPY_EYEBALLS_TIMEOUT_MS`). Default 200 ms.
        public var happyEyeballsDelay = Duration.milliseconds(200)
        /// The local end of connections: an address of this machine, or `if!` and the name of an interface
        /// (`CURLOPT_INTERFACE`). Default `nil`: the system chooses.
        public var networkInterface: String?
        /// The path of a Unix socket that all connections go to, regardless of the URL's host
        /// (`CURLOPT_UNIX_SOCKET_PATH`). Default `nil`: connections use TCP or QUIC.
        public var unixSocketPath: String?
        /// Whether connections to addresses that are not public (loopback, private, link-local and other
        /// special ranges, RFC 6890) fail with ``NetworkError/Code/forbiddenAddress``. The connected address
        /// counts, regardless of the name; with a proxy this is the address of the proxy. Default false.
        public var forbidsPrivateAddresses = false
        /// The proxy. Default: the proxy of the environment.
        public var proxy = Proxy.environment

        /// Trusted authorities, and the certificate of the client.
        public var tls = TLSConfiguration()

        /// The hosts that are reached over TLS only, even if a URL or a redirect has the scheme http (RFC
        /// 6797). Default `nil`: http URLs are used unchanged.
        public var hsts: HSTSStore?

        // Sizes

        /// The maximum size of the header lines in one response, in bytes; a larger head fails with
        /// ``NetworkError/Code/tooLarge``. Default 256 KiB. libcurl itself refuses a single line over 100
        /// KiB.
        public var headerLimit = 256 << 10
        /// The maximum ratio of decoded to received bytes of a body, at each of its codings and from its
        /// first MiB on; a larger body fails with ``NetworkError/Code/tooLarge``, also if it is written to a
        /// file. Default 100.
        public var expansionLimit = 100
        /// The maximum number of informational responses before the final one; more of them fail with
        /// ``NetworkError/Code/invalidResponse``. Default 100. While content is sent, each 4 KiB of it allow for one more
        /// of 512 bytes: a server may report how much of an upload it has.
        public var interimLimit = 100
        /// Whether the transfer pauses while the subscriber of an HTTP/2 response pauses, as it always does
        /// over HTTP/1.1; see ``http2BacklogLimit``. Default `nil`: true from libcurl 8.4 on, checked at run
        /// time.
        public var pausesHTTP2: Bool?
        /// The maximum backlog of one HTTP/2 response, in bytes: the part that arrives while its subscriber
        /// pauses and the transfer does not. A larger backlog fails with ``NetworkError/Code/tooLarge``.
        /// Default 64 MiB.
        public var http2BacklogLimit = 64 << 20
        /// The size of reads from a socket, in bytes; each running transfer holds one such buffer
        /// (`CURLOPT_BUFFERSIZE`). Default 64 KiB, which speeds up large bodies.
        public var receiveBufferSize = 64 << 10

        /// Creates a configuration with the defaults.
        public init() {}

        /// The share of one loop among `count` loops. A limit of 0 counts as 1. The documentation of
        /// ``CurlTransport/init(loops:configuration:)`` names all limits that are divided.
        func divided(by count: Int) -> Configuration {
            var part = self
            part.maxConnectionsPerOrigin = maxConnectionsPerOrigin.map { $0 / count }
            part.promptConnectionsPerOrigin = promptConnectionsPerOrigin.map { $0 / count }
            part.maxConnections = maxConnections.map { $0 / count }
            part.maxIdleConnections = maxIdleConnections / count
            return part
        }
    }

    /// The HTTP version to ask for.
    public enum HTTPVersion: Sendable {
        /// ``http2`` from libcurl 8.4 on, checked at run time, else ``http1``: older versions have faults
        /// with HTTP/2, such as uploads that spin, and truncated bodies that count as complete. If
        /// ``LibcurlFeatures/usesHTTP3`` and TLS verifies the server, HTTP/3 for https as with ``http3``,
        /// once the origin has advertised it for the same host and port (`Alt-Svc`, RFC 7838).
        case automatic
        /// HTTP/1.1 only (`CURL_HTTP_VERSION_1_1`).
        case http1
        /// HTTP/2 if TLS negotiates it (ALPN), else HTTP/1.1 (`CURL_HTTP_VERSION_2TLS`).
        case http2
        /// HTTP/2 from the first byte, also without TLS, for servers known to speak it (RFC 9113 §3.3,
        /// `CURL_HTTP_VERSION_2_PRIOR_KNOWLEDGE`).
        case http2PriorKnowledge
        /// HTTP/3 for https from the first request on, in a race with the version that ``automatic`` would
        /// use otherwise. The other version starts after half of ``Configuration/happyEyeballsDelay`` if
        /// nothing has arrived over UDP, and after the whole delay otherwise (`CURL_HTTP_VERSION_3`). If
        /// HTTP/3 cannot be reached, the origin is not asked for it again for five minutes, then ten, and so
        /// on up to two days. Without ``LibcurlFeatures/usesHTTP3``, and through proxies and Unix sockets,
        /// the version that ``automatic`` would use otherwise.
        case http3
        /// HTTP/3 only (`CURL_HTTP_VERSION_3ONLY`). Requests fail with
        /// ``NetworkError/Code/invalidConfiguration`` without ``LibcurlFeatures/usesHTTP3``, with a proxy
        /// (including one of the environment) or with a Unix socket, and with
        /// ``NetworkError/Code/invalidURL`` for http URLs.
        case http3Only
    }

    /// Kinds of addresses.
    public enum AddressFamily: Sendable {
        /// Both; if a host has both, the one that connects first is used (RFC 8305).
        case any
        /// IPv4 only.
        case ipv4
        /// IPv6 only.
        case ipv6
    }
}

extension CurlTransport.Configuration {
    /// The first value that curl would parse differently than intended; `nil` if there is none.
    var configurationError: String? {
        if let configurationError = hostOverrides.lazy.compactMap(\.configurationError).first {
            return "hostOverrides: \(configurationError)"
        }
        if let configurationError = connectTo.lazy.compactMap(\.configurationError).first {
            return "connectTo: \(configurationError)"
        }
        if let configurationError = proxy.configurationError { return "proxy: \(configurationError)" }
        if let url = dnsOverHTTPS, !CheckedURL.isSecure(url) { return "dnsOverHTTPS: it is not an https URL" }
        return nil
    }
}

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

        /// The line for curl. Requires that ``configurationError`` is `nil`.
        var text: String {
            let ports = [port, toPort].map { $0.map(String.init) ?? "" }
            let hosts = [host, toHost].map { $0.map(HostText.bracketed) ?? "" }
            return "\(hosts[0]):\(ports[0]):\(hosts[1]):\(ports[1])"
        }

        /// The reason why the override cannot be passed to curl; `nil` if it can.
        var configurationError: String? {
            let host = [host, toHost].lazy.compactMap(\.self)
                .first { !HostText.isName($0) && !HostText.isAddress($0) }
            if let host { return "\(host.debugDescription) is not a host" }
            let port = [port, toPort].lazy.compactMap(\.self).first { !(1...65535 ~= $0) }
            return port.map { "\($0) is not a port" }
        }
    }
}

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

        /// The line for curl. Requires that ``configurationError`` is `nil`.
        var text: String { "\(host):\(port):\(addresses.joined(separator: ","))" }

        /// The reason why the override cannot be passed to curl; `nil` if it can.
        var configurationError: String? {
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

/// Checks and formats hosts for lines that curl parses.
enum HostText {
    /// Whether `text` is a name of letters, digits, hyphens, underscores and dots, within the length limit of
    /// DNS. A leading hyphen would make curl remove an override (`CURLOPT_RESOLVE`).
    static func isName(_ text: String) -> Bool {
        !text.isEmpty && text.utf8.count <= 253 && text.utf8.first != UInt8(ascii: "-")
            && text.utf8.allSatisfy { byte in
                switch byte | 0x20 {
                case UInt8(ascii: "a")...UInt8(ascii: "z"): true
                default: "0123456789-._".utf8.contains(byte)
                }
            }
    }

    /// Whether `text` is an IPv4 or IPv6 address.
    static func isAddress(_ text: String) -> Bool { !text.utf8.contains(0) && IPAddress(text) != nil }

    /// Puts an IPv6 address in brackets; returns any other host unchanged.
    static func bracketed(_ host: String) -> String {
        host.utf8.contains(UInt8(ascii: ":")) ? "[\(host)]" : host
    }
}
