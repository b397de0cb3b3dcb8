internal import CLibcurl

/// What a libcurl is able to do.
///
/// The one that runs may be another than the one compiled against, so the transport goes by ``running``.
///
/// ```swift
/// print(CurlTransport.shared.features)    // libcurl 8.14.1 with OpenSSL/3.0.17, HTTP/2
/// ```
public struct LibcurlFeatures: Sendable, Equatable {
    /// The version (`version_num`).
    public var version: Version
    /// The schemes it knows, in lower case (`protocols`).
    public var protocols: Set<String>
    /// The TLS library and its version, such as `OpenSSL/3.0.17` (`ssl_version`); `nil` without TLS.
    public var tlsBackend: String?
    /// Whether it speaks HTTP/2 (`CURL_VERSION_HTTP2`).
    public var hasHTTP2: Bool
    /// Whether it speaks HTTP/3 (`CURL_VERSION_HTTP3`). The transport asks for it only where ``usesHTTP3``.
    public var hasHTTP3: Bool
    /// The content codings that libcurl itself decodes (`CURL_VERSION_LIBZ`, `CURL_VERSION_BROTLI`,
    /// `CURL_VERSION_ZSTD`). The transport decodes without it.
    public var codings: Set<String>

    /// Whether the transport uses its HTTP/3: from 8.4 on, if it also speaks HTTP/2, which requests fall back to. Without
    /// that requests with ``CurlTransport/HTTPVersion/http3Only`` fail, and others go over lower versions.
    public var usesHTTP3: Bool { hasHTTP3 && hasHTTP2 && !has(.endsHTTP2BodiesEarly) }

    /// Whether it speaks WebSocket (`ws` among the protocols).
    public var hasWebSockets: Bool { protocols.contains("ws") }

    /// Whether TLS is that of GnuTLS, whose numbers and words are others than OpenSSL's.
    var usesGnuTLS: Bool { tlsBackend?.hasPrefix("GnuTLS") ?? false }

    /// The libcurl that runs (`curl_version_info`).
    public static let running = LibcurlFeatures()

    /// Creates the features of a libcurl, by default of a plain one.
    public init(
        version: Version, protocols: Set<String> = ["http", "https"], tlsBackend: String? = nil,
        hasHTTP2: Bool = true, hasHTTP3: Bool = false, codings: Set<String> = []
    ) {
        self.version = version
        self.protocols = protocols
        self.tlsBackend = tlsBackend
        self.hasHTTP2 = hasHTTP2
        self.hasHTTP3 = hasHTTP3
        self.codings = codings
    }

    private init() {
        // The members that are read are those of the first age of the structure.
        guard let info = unsafe curl_version_info(CURLVERSION_FIRST)?.pointee else {
            self.init(version: Version(0, 0, 0), hasHTTP2: false)
            return
        }
        let bits = unsafe Int(info.features)
        var protocols: Set<String> = []
        if var next = unsafe info.protocols {
            while let name = unsafe next.pointee {
                protocols.insert(unsafe String(cString: name))
                unsafe next += 1
            }
        }
        let codings = [
            (CURL_VERSION_LIBZ, ["gzip", "deflate"]), (CURL_VERSION_BROTLI, ["br"]),
            (CURL_VERSION_ZSTD, ["zstd"]),
        ]
        unsafe self.init(
            version: Version(number: info.version_num), protocols: protocols,
            tlsBackend: info.ssl_version.flatMap { unsafe Self.activeBackend(String(cString: $0)) },
            hasHTTP2: bits & Int(CURL_VERSION_HTTP2) != 0, hasHTTP3: bits & Int(CURL_VERSION_HTTP3) != 0,
            codings: Set(codings.filter { bits & Int($0.0) != 0 }.flatMap(\.1)))
    }

    /// The backend in use; those in parentheses are there beside it (`curl_global_sslset`).
    static func activeBackend(_ text: String) -> String? {
        text.split(separator: " ").first { !$0.hasPrefix("(") }.map(String.init)
    }
}

extension LibcurlFeatures: CustomStringConvertible {
    /// One line: the version, the TLS library, and what not every libcurl has.
    public var description: String {
        let extras = [(hasHTTP2, "HTTP/2"), (hasHTTP3, "HTTP/3"), (hasWebSockets, "WebSocket")]
        let parts = [tlsBackend ?? "no TLS"] + extras.filter(\.0).map(\.1)
        return "libcurl \(version) with \(parts.joined(separator: ", "))"
    }
}
