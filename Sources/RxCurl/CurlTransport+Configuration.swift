public import RxHTTP

extension CurlTransport {
    /// The settings of all transfers of a transport.
    public struct Configuration: Sendable {
        /// The highest HTTP version. Default ``HTTPVersion/automatic``.
        public var httpVersion = HTTPVersion.automatic
        /// The file that keeps which origins speak HTTP/3 (`Alt-Svc`) for the next process, in [curl's
        /// format](https://curl.se/docs/alt-svc.html). It is replaced as a whole, with mode 0600, and read before the
        /// first https request. Used where requests ask for HTTP/3. Default none: they are kept in memory.
        public var alternativeServicesPath: String?
        /// Is told, on a loop, if that file cannot be read or written; requests go on without it. A file that could not
        /// be read is not replaced. Default nobody.
        public var onAlternativeServicesFailure: (@Sendable (NetworkError) -> Void)?

        // Connections

        /// The most connections to one origin, in use at a time; requests beyond wait in a fair queue, for
        /// ``Timeouts/queue`` at most. Over HTTP/2 a connection counts for a hundred requests. `nil` is no limit.
        /// Default 256.
        public var maxConnectionsPerOrigin: Int? = 256
        /// How many of these are opened at once. A request that finds all of them in use waits for one to come free,
        /// and only after ``connectionDelay`` another is opened: a fast server is fastest over few connections, a slow
        /// one over many. `nil` for all at once. Default 64.
        public var promptConnectionsPerOrigin: Int? = 64
        /// How long a request waits before a connection is opened beyond ``promptConnectionsPerOrigin``. Default 50 ms.
        public var connectionDelay = Duration.milliseconds(50)
        /// The same for all origins together. A process may mostly have 1,024 descriptors. Default 512.
        public var maxConnections: Int? = 512
        /// The most idle connections kept open, in addition to those in use (`CURLMOPT_MAXCONNECTS`). Default 256.
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
        /// Fixed addresses of hosts, used without a resolver (`CURLOPT_RESOLVE`). They apply to all requests of the
        /// transport, to the names of proxies and to those in ``connectTo``, and do not expire with ``nameLifetime``.
        /// Default none.
        public var hostOverrides: [HostOverride] = []
        /// Hosts and ports to connect to instead of those in URLs (`CURLOPT_CONNECT_TO`). The first match applies.
        /// Default none.
        public var connectTo: [ConnectTo] = []
        /// The URL of a DNS server that resolves names over HTTPS (RFC 8484, `CURLOPT_DOH_URL`), such as
        /// `https://dns.example/dns-query`. Its certificate is verified as ``tls`` says. Its own name is resolved by
        /// the system, unless it is an address or in ``hostOverrides``. If it cannot be asked, requests fail with
        /// ``NetworkError/Code/resolve``. With libcurl before 8.14 connecting takes five minutes at most. Default `nil`: the
        /// system resolves all names.
        public var dnsOverHTTPS: String?
        /// Which kind of addresses is used (`CURLOPT_IPRESOLVE`). Default both.
        public var addressFamily = AddressFamily.any
        /// How long IPv6 gets ahead before IPv4 is tried as well (RFC 8305 §5,
        /// `CURLOPT_HAPPY_EYEBALLS_TIMEOUT_MS`). Default 200 ms.
        public var happyEyeballsDelay = Duration.milliseconds(200)
        /// The local end of connections: an address of this machine, or `if!` and the name of an interface
        /// (`CURLOPT_INTERFACE`). Default what the system chooses.
        public var networkInterface: String?
        /// The path of a Unix socket that all connections go to, regardless of the URL's host
        /// (`CURLOPT_UNIX_SOCKET_PATH`). Default none.
        public var unixSocketPath: String?
        /// Whether connections to addresses that are not for everybody (loopback, private, link-local and other special
        /// ranges, RFC 6890) fail with ``NetworkError/Code/forbiddenAddress``. The connected address counts, regardless
        /// of the name; with a proxy that is the proxy's address. Default false.
        public var forbidsPrivateAddresses = false
        /// The proxy. Default what the environment says.
        public var proxy = Proxy.environment

        /// Trusted authorities, and the client's certificate.
        public var tls = TLSConfiguration()

        /// The hosts that are reached over TLS only, whatever URLs and redirects say (RFC 6797). Default `nil`: http
        /// URLs are sent to as they are.
        public var hsts: HSTSStore?

        // Sizes

        /// The most bytes of header lines in one response; more fails with ``NetworkError/Code/tooLarge``. Default 256
        /// KiB. libcurl itself refuses a single line over 100 KiB.
        public var headerLimit = 256 << 10
        /// How many times larger than on the wire a decoded body may be, at each of its codings and from its first MiB
        /// on; more fails with ``NetworkError/Code/tooLarge``, also where it is written to a file. Default 100.
        public var expansionLimit = 100
        /// The most informational responses before the final one; more fails with
        /// ``NetworkError/Code/invalidResponse``. Default 100.
        public var interimLimit = 100
        /// Whether the transfer is paused while the subscriber of an HTTP/2 response pauses, as it always is over
        /// HTTP/1.1; see ``http2SpoolLimit``. Default `nil`: from libcurl 8.4 on, by the version at run time.
        public var pausesHTTP2: Bool?
        /// The most bytes of one HTTP/2 response that are kept in memory while its subscriber pauses, if the transfer
        /// is not paused; more fails with ``NetworkError/Code/tooLarge``. Default 64 MiB.
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
        /// ``http2`` from libcurl 8.4 on, checked at run time, else ``http1``: libcurl before that has faults with
        /// HTTP/2, such as uploads that spin and broken-off bodies that count as whole. Where ``LibcurlFeatures/usesHTTP3``,
        /// and TLS verifies the server, HTTP/3 for https once the origin has named it for its own host and port
        /// (`Alt-Svc`, RFC 7838), as with ``http3``.
        case automatic
        /// HTTP/1.1 only (`CURL_HTTP_VERSION_1_1`).
        case http1
        /// HTTP/2 where TLS negotiates it (ALPN), else HTTP/1.1 (`CURL_HTTP_VERSION_2TLS`).
        case http2
        /// HTTP/2 from the first byte, without TLS too, for servers known to speak it (RFC 9113 §3.3,
        /// `CURL_HTTP_VERSION_2_PRIOR_KNOWLEDGE`).
        case http2PriorKnowledge
        /// HTTP/3 for https from the first request on, in a race with what ``automatic`` uses otherwise, which
        /// begins after half of ``Configuration/happyEyeballsDelay`` if nothing has arrived over UDP, and after all of
        /// it otherwise (`CURL_HTTP_VERSION_3`). An origin where HTTP/3
        /// cannot be reached is not asked for it again for five minutes, then ten, and so on up to two days. Without
        /// ``LibcurlFeatures/usesHTTP3``, and through proxies and Unix sockets, what ``automatic`` uses otherwise.
        case http3
        /// HTTP/3 only (`CURL_HTTP_VERSION_3ONLY`). Without ``LibcurlFeatures/usesHTTP3``, and with a proxy, one of the
        /// environment included, or a Unix socket, requests fail with ``NetworkError/Code/invalidConfiguration``, and
        /// with ``NetworkError/Code/invalidURL`` for http.
        case http3Only
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
}
