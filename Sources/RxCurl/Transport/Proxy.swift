public import RxHTTP

#if canImport(Glibc)
import Glibc
#elseif canImport(Darwin)
import Darwin
#endif

/// The proxy between this machine and the servers.
///
/// ```swift
/// configuration.proxy = Proxy("http://proxy.example.com:3128", exceptions: ["localhost", ".example.com"])
/// ```
public struct Proxy: Sendable, Equatable {
    enum Choice: Equatable {
        case environment
        case none
        case server(String)
    }

    let choice: Choice
    let exceptions: [String]
    private let honorsEnvironmentExceptions: Bool
    /// Whether an HTTP proxy gets a digest in response to its challenge (RFC 7616), instead of user and password with
    /// every request (RFC 7617), which are readable on the way to a proxy without TLS (`CURLOPT_PROXYAUTH`). Default
    /// false. SOCKS 5 has a scheme of its own (RFC 1929).
    ///
    /// The first request of an easy handle is sent without its body, and again after the challenge; later ones carry a
    /// digest immediately. libcurl before 8.1 gets a challenge for each request. If the proxy's nonce has expired, a
    /// body that can be sent only once fails with ``NetworkError/Code/connectionLost``.
    public var usesDigest = false
    /// Whether http requests use a tunnel (`CONNECT`), as https requests do (`CURLOPT_HTTPPROXYTUNNEL`). Many proxies
    /// allow tunnels to port 443 only. Default false.
    public var tunnelsHTTP = false

    /// The proxy of the environment: `http_proxy`, `https_proxy`, `all_proxy`, and `no_proxy` for exceptions.
    public static let environment = Proxy(.environment)
    /// No proxy, regardless of the environment.
    public static let none = Proxy(.none)

    /// Creates a proxy.
    ///
    /// - Parameters:
    ///   - url: the URL with the kind of the proxy: `http://`, `https://` (TLS to the proxy itself),
    ///     `socks4://`, `socks5://`, or `socks4a://` and `socks5h://`, which let the proxy resolve names
    ///     (`CURLOPT_PROXY`). User and password are part of the URL, percent-encoded:
    ///     `http://user:password@host:3128`. They are sent only to the proxy and never printed.
    ///   - exceptions: the hosts that are reached without the proxy: names, which include all subdomains,
    ///     addresses, ranges such as `10.0.0.0/8`, or `*` for all (`CURLOPT_NOPROXY`).
    ///   - honorsEnvironmentExceptions: whether the hosts in `no_proxy` are exceptions too. Default false:
    ///     the environment does not affect a proxy set by the program.
    public init(_ url: String, exceptions: [String] = [], honorsEnvironmentExceptions: Bool = false) {
        self.init(.server(url), exceptions, honorsEnvironmentExceptions)
    }

    private init(
        _ choice: Choice, _ exceptions: [String] = [], _ honorsEnvironmentExceptions: Bool = false
    ) {
        self.choice = choice
        self.exceptions = exceptions
        self.honorsEnvironmentExceptions = honorsEnvironmentExceptions
    }

    /// The value of `CURLOPT_NOPROXY`; `nil` for the environment's exceptions, which curl reads.
    var noProxy: String? {
        switch choice {
        case .environment: return nil
        case .none: return ""
        case .server:
            guard honorsEnvironmentExceptions else { return exceptions.joined(separator: ",") }
            // In the order of curl (`CURLOPT_NOPROXY`).
            let value = unsafe getenv("no_proxy") ?? getenv("NO_PROXY")
            let inherited = unsafe value.map { unsafe [String(cString: $0)] } ?? []
            // `*` means all hosts only if it is the whole value.
            if inherited == ["*"] || exceptions.contains("*") { return "*" }
            return (exceptions + inherited).joined(separator: ",")
        }
    }
}

extension Proxy: RedactedDescription {
    /// The URL without user and password.
    public var description: String {
        switch choice {
        case .environment: "from the environment"
        case .none: "none"
        case .server(let url): url.withoutUserInfo
        }
    }
}

extension String {
    /// The text without everything that looks like user info in a URL: between `//`, or the beginning of a
    /// word, and an `@`.
    var withoutUserInfo: String {
        guard utf8.contains(UInt8(ascii: "@")) else { return self }
        return parts(at: " ", omittingEmpty: false).map { word in
            guard let at = word.utf8.lastIndex(of: UInt8(ascii: "@")) else { return String(word) }
            let slashes = word.utf8[..<at].firstRange(of: "//".utf8)
            let scheme = word[..<(slashes?.upperBound ?? word.startIndex)]
            return "\(scheme)\(word[word.utf8.index(after: at)...])"
        }.joined(separator: " ")
    }
}

extension Proxy {
    /// The value of `CURLOPT_PROXYAUTH`; `nil` for curl's default, which is basic.
    ///
    /// `1 << 1` is `CURLAUTH_DIGEST`, which Swift does not import because it is a macro with a cast. A further scheme
    /// with a challenge concerns ``TransferState`` too, which expects one only if ``usesDigest``.
    var authenticationMask: Int? { usesDigest ? 1 << 1 : nil }

    /// The reason why the proxy cannot be passed to curl; `nil` if it can. Contains no part of the URL, which
    /// may have a password.
    var configurationError: String? {
        guard case .server(let url) = choice else { return nil }
        guard url.utf8.allSatisfy({ 0x21...0x7E ~= $0 }) else {
            return "the URL contains a character that must be percent-encoded"
        }
        // Without a scheme it is an HTTP proxy.
        if let end = url.firstRange(of: "://"), !Self.schemes.contains(url[..<end.lowerBound].lowercased()) {
            return "the URL's scheme is not one of \(Self.schemes.joined(separator: ", "))"
        }
        let isLegal = exceptions.allSatisfy { exception in
            !exception.isEmpty && exception.utf8.allSatisfy { 0x21...0x7E ~= $0 && $0 != UInt8(ascii: ",") }
        }
        return isLegal ? nil : "an exception is not a host, an address or a range of addresses"
    }

    /// Those that ``init(_:exceptions:honorsEnvironmentExceptions:)`` documents.
    private static let schemes = ["http", "https", "socks4", "socks4a", "socks5", "socks5h"]
}
