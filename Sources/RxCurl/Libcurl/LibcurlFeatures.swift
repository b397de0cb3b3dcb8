import CLibcurl

/// The features of a libcurl.
///
/// The running libcurl may differ from the one compiled against, so the transport uses ``running``.
///
/// ```swift
/// print(CurlTransport.shared.features)    // libcurl 8.14.1 with OpenSSL/3.0.17, HTTP/2
/// ```
public struct LibcurlFeatures: Sendable, Equatable {
    /// The version (`version_num`).
    public var version: Version
    /// The supported schemes, in lower case (`protocols`).
    public var protocols: Set<String>
    /// The TLS library and its version, such as `OpenSSL/3.0.17` (`ssl_version`); `nil` without TLS.
    public var tlsBackend: String?
    /// Whether it supports HTTP/2 (`CURL_VERSION_HTTP2`).
    public var hasHTTP2: Bool
    /// Whether it supports HTTP/3 (`CURL_VERSION_HTTP3`). The transport asks for it only if ``usesHTTP3``.
    public var hasHTTP3: Bool
    /// The content codings that libcurl decodes (`CURL_VERSION_LIBZ`, `CURL_VERSION_BROTLI`,
    /// `CURL_VERSION_ZSTD`). The transport does not use them; it decodes bodies itself.
    public var codings: Set<String>

    /// Whether the transport uses the HTTP/3 of this libcurl: from 8.5 on, if it also supports HTTP/2, to
    /// which requests fall back. Otherwise requests with ``CurlTransport/HTTPVersion/http3Only`` fail, and
    /// others use lower versions.
    public var usesHTTP3: Bool { hasHTTP3 && hasHTTP2 && !has(.freesHTTP3Streams) }

    /// Whether it supports WebSocket (`ws` among the protocols).
    public var hasWebSockets: Bool { protocols.contains("ws") }

    /// Whether the TLS library is GnuTLS, whose error numbers and messages differ from OpenSSL's.
    var usesGnuTLS: Bool { tlsBackend?.hasPrefix("GnuTLS") ?? false }

    /// The features of the running libcurl (`curl_version_info`).
    public static let running = LibcurlFeatures()

    /// Creates the features of a libcurl; by default of one with HTTP/2 but without TLS, HTTP/3 and content
    /// codings.
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
        // All members that are read belong to the first version of the structure.
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

    /// The backend in use; those in parentheses are available but unused (`curl_global_sslset`).
    static func activeBackend(_ text: String) -> String? {
        text.split(separator: " ").first { !$0.hasPrefix("(") }.map(String.init)
    }
}

extension LibcurlFeatures: CustomStringConvertible {
    /// One line: the version, the TLS library, and the optional features.
    public var description: String {
        let extras = [(hasHTTP2, "HTTP/2"), (hasHTTP3, "HTTP/3"), (hasWebSockets, "WebSocket")]
        let parts = [tlsBackend ?? "no TLS"] + extras.filter(\.0).map(\.1)
        return "libcurl \(version) with \(parts.joined(separator: ", "))"
    }
}

extension LibcurlFeatures {
    /// A version of libcurl, compared by number: 8.4 is older than 8.14.
    public struct Version: Sendable, Hashable {
        /// The number as in libcurl: 8.4.0 is 0x080400 (`version_num`).
        private let number: UInt32

        /// The first component.
        public var major: Int { Int(number >> 16) }
        /// The second component.
        public var minor: Int { Int(number >> 8 & 0xFF) }
        /// The third component.
        public var patch: Int { Int(number & 0xFF) }

        /// Creates a version of three components, each from 0 to 255.
        public init(_ major: UInt8, _ minor: UInt8, _ patch: UInt8 = 0) {
            number = UInt32(major) << 16 | UInt32(minor) << 8 | UInt32(patch)
        }

        init(number: UInt32) { self.number = number & 0xFF_FFFF }
    }
}

extension LibcurlFeatures.Version: Comparable {
    /// Whether `left` is older than `right`.
    public static func < (left: Self, right: Self) -> Bool { left.number < right.number }
}

extension LibcurlFeatures.Version: CustomStringConvertible {
    /// The three components, separated by dots.
    public var description: String { "\(major).\(minor).\(patch)" }
}
