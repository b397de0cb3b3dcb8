extension CurlTransport {
    /// What is the same for all transfers of one transport.
    public struct Configuration: Sendable {
        /// The highest HTTP version. Default ``HTTPVersion/automatic``.
        public var httpVersion = HTTPVersion.automatic

        // Connections

        /// The most connections to one origin, in use at a time; requests beyond wait in a fair queue, for
        /// ``Timeouts/queue`` at most. Over HTTP/2 a connection counts for a hundred requests. `nil` is no limit.
        /// Default 256.
        public var maxConnectionsPerOrigin: Int? = 256
        /// How many of these are opened at once. A request that finds all of them in use waits for one to come free,
        /// and only after ``connectionDelay`` another is opened: a quick server is asked fastest over few
        /// connections, a slow one over many. `nil` for all at once. Default 64.
        public var promptConnectionsPerOrigin: Int? = 64
        /// How long a request waits before a connection is opened beyond ``promptConnectionsPerOrigin``. Default 50 ms.
        public var connectionDelay = Duration.milliseconds(50)
        /// The same for all origins together. A process may mostly have 1,024 descriptors. Default 512.
        public var maxConnections: Int? = 512
        /// The most idle connections kept open, besides those in use (`CURLMOPT_MAXCONNECTS`). Default 256.
        public var maxIdleConnections = 256
        /// How long an idle connection may still be used again, in whole seconds (`CURLOPT_MAXAGE_CONN`). Default
        /// 60 s; most servers close after that.
        public var idleConnectionLifetime = Duration.seconds(60)
        /// How old a connection may be and still be used again, in whole seconds (`CURLOPT_MAXLIFETIME_CONN`), so
        /// that changes behind a name are noticed. `nil` is no limit. Default none.
        public var connectionLifetime: Duration?

        // Names and addresses

        /// How long a resolved name is good, in whole seconds (`CURLOPT_DNS_CACHE_TIMEOUT`). Default 60 s.
        public var nameLifetime = Duration.seconds(60)
        /// Addresses of hosts that no resolver is asked for.
        public var hostOverrides: [HostOverride] = []
        /// Which kind of addresses is used (`CURLOPT_IPRESOLVE`). Default both.
        public var addressFamily = AddressFamily.any
        /// How long IPv6 gets ahead before IPv4 is tried as well (RFC 8305 §5,
        /// `CURLOPT_HAPPY_EYEBALLS_TIMEOUT_MS`). Default 200 ms.
        public var happyEyeballsDelay = Duration.milliseconds(200)
        /// What connections start from: an address of this machine, or `if!` and the name of an interface
        /// (`CURLOPT_INTERFACE`). Default what the system chooses.
        public var networkInterface: String?
        /// The path of a Unix socket that all connections go to, whatever the URL's host says
        /// (`CURLOPT_UNIX_SOCKET_PATH`). Default none.
        public var unixSocketPath: String?
        /// Whether connections to addresses that are not for everybody (loopback, private, link-local and other
        /// special ranges, RFC 6890) fail with ``NetworkError/Code/forbiddenAddress``. The address that is really
        /// used counts, whatever name led to it; with a proxy that is the proxy's. Default false.
        public var forbidsPrivateAddresses = false
        /// What stands between. Default what the environment says.
        public var proxy = Proxy.environment

        /// Whom to trust, and what to show.
        public var tls = TLSConfiguration()

        // Sizes

        /// The most bytes of header lines in one answer; more fails with
        /// ``NetworkError/Code/tooLarge``. Default 256 KiB. libcurl itself refuses a single line over 100 KiB.
        public var headerLimit = 256 << 10
        /// How many times larger than on the wire a decoded body may be, at each of its codings and from its first MiB
        /// on; more fails with ``NetworkError/Code/tooLarge``, also where it is written to a file. Default 100.
        public var expansionLimit = 100
        /// The most informational answers before the final one; more fails with
        /// ``NetworkError/Code/invalidResponse``. Default 100.
        public var interimLimit = 100
        /// Whether the server is told to wait while the subscriber of an HTTP/2 answer pauses, as it always is over
        /// HTTP/1.1. Default: from libcurl 8.4 on, by the version at run time; see ``http2SpoolLimit``.
        public var pausesHTTP2 = CurlTransport.libcurlVersion >= (8, 4, 0)
        /// The most bytes of one HTTP/2 answer that are kept in memory while its subscriber pauses, where the server
        /// is not told to wait; more fails with ``NetworkError/Code/tooLarge``. Default 64 MiB.
        public var http2SpoolLimit = 64 << 20
        /// The bytes asked of a socket at a time, held once per running transfer (`CURLOPT_BUFFERSIZE`).
        /// Default 64 KiB, which large bodies gain by.
        public var receiveBufferSize = 64 << 10

        /// The defaults.
        public init() {}

        /// The part of one among so many loops. A limit of 0 is taken for 1.
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
        /// ``http2`` from libcurl 8.4 on, which is looked at when the program runs, else ``http1``: libcurl before
        /// that has faults with HTTP/2, such as uploads that spin and broken-off bodies that count as whole.
        case automatic
        /// HTTP/1.1 only (`CURL_HTTP_VERSION_1_1`).
        case http1
        /// HTTP/2 where TLS negotiates it (ALPN), else HTTP/1.1 (`CURL_HTTP_VERSION_2TLS`).
        case http2
        /// HTTP/2 from the first byte, without TLS too, for servers known to speak it (RFC 9113 §3.3,
        /// `CURL_HTTP_VERSION_2_PRIOR_KNOWLEDGE`).
        case http2PriorKnowledge
    }

    /// Kinds of addresses.
    public enum AddressFamily: Sendable {
        /// Both; where a host has both, whichever connects first (RFC 8305).
        case any
        /// IPv4 only.
        case ipv4
        /// IPv6 only.
        case ipv6
    }

    /// Where a host is, without asking anybody (`CURLOPT_RESOLVE`).
    public struct HostOverride: Sendable, Equatable {
        /// The name as it stands in URLs.
        public var host: String
        /// The port that this is for.
        public var port: Int
        /// Addresses as numbers, tried in this order.
        public var addresses: [String]

        /// Creates an override.
        public init(host: String, port: Int, addresses: [String]) {
            self.host = host
            self.port = port
            self.addresses = addresses
        }

        var text: String { "\(host):\(port):\(addresses.joined(separator: ","))" }
    }
}
