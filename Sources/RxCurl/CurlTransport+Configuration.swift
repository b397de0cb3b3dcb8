internal import CLibcurl

extension CurlTransport {
    /// What is the same for all transfers of one transport.
    public struct Configuration: Sendable {
        /// The highest HTTP version to ask for.
        public enum HTTPVersion: Sendable {
            /// HTTP/1.1 only (`CURL_HTTP_VERSION_1_1`).
            case http1
            /// HTTP/2 where TLS negotiates it, else HTTP/1.1 (`CURL_HTTP_VERSION_2TLS`). libcurl before 8.4
            /// has faults there: uploads that spin, broken-off bodies that count as whole, paused transfers that do
            /// not go on; see ``http2SpoolLimit`` about these.
            case http2
        }

        /// The most idle connections kept open, besides those in use (`CURLMOPT_MAXCONNECTS`). Default 256.
        public var maxIdleConnections = 256
        /// The highest HTTP version. Default HTTP/1.1.
        public var httpVersion = HTTPVersion.http1
        /// A file of accepted certificate authorities in PEM format, instead of the system's
        /// (`CURLOPT_CAINFO`).
        public var caBundlePath: String?
        /// The server's public key: `sha256//` and base64, several separated by `;`, or a file
        /// (`CURLOPT_PINNEDPUBLICKEY`). Default none.
        public var pinnedPublicKey: String?
        /// A file with the client's certificate in PEM format (`CURLOPT_SSLCERT`).
        public var clientCertificatePath: String?
        /// A file with the private key for it (`CURLOPT_SSLKEY`), if it is not in the same file.
        public var clientKeyPath: String?
        /// Whether the server's certificate and host name are checked (`CURLOPT_SSL_VERIFYPEER`,
        /// `CURLOPT_SSL_VERIFYHOST`). Default true; false is for experiments.
        public var verifiesTLS = true
        /// The proxy's URL (`CURLOPT_PROXY`); empty for none. Default what the environment says:
        /// `http_proxy`, `https_proxy`, `all_proxy`, `no_proxy`.
        public var proxy: String?
        /// The most bytes of header lines in one answer; more fails with
        /// ``NetworkError/Code/tooLarge``. Default 256 KiB. libcurl itself refuses a single line over 100 KiB.
        public var headerLimit = 256 << 10
        /// How many times larger than on the wire a decoded body may be, from its first MiB on; more fails with
        /// ``NetworkError/Code/tooLarge``, also where it is written to a file. Default 100.
        public var expansionLimit = 100
        /// The most informational answers before the final one; more fails with
        /// ``NetworkError/Code/invalidResponse``. Default 100.
        public var interimLimit = 100
        /// Whether the server is told to wait while the subscriber of an HTTP/2 answer pauses, as it always is over
        /// HTTP/1.1. Default: from libcurl 8.4 on, by the version at run time; see ``http2SpoolLimit``.
        public var pausesHTTP2 = unsafe curl_version_info(CURLVERSION_FIRST).pointee.version_num >= 0x08_04_00
        /// The most bytes of one HTTP/2 answer that are kept in memory while its subscriber pauses, where the server
        /// is not told to wait; more fails with ``NetworkError/Code/tooLarge``. Default 64 MiB.
        public var http2SpoolLimit = 64 << 20
        /// The bytes asked of a socket at a time, held once per running transfer (`CURLOPT_BUFFERSIZE`).
        /// Default 16 KiB.
        public var receiveBufferSize = 16 << 10

        /// The defaults.
        public init() {}
    }
}
