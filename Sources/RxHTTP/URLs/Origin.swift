public import FoundationEssentials

/// The unit of trust of a URL: scheme, host and port (RFC 6454 §4).
public struct Origin: Hashable, Sendable {
    /// The scheme, in lower case.
    public let scheme: String
    /// The host, in lower case.
    public let host: String
    /// The port; the scheme's default if the URL has none.
    public let port: Int

    /// The origin of an absolute http or https URL; `nil` for any other.
    public init?(_ url: URL) {
        guard let scheme = url.scheme?.lowercased(), let host = url.host()?.lowercased(), !host.isEmpty
        else { return nil }
        switch scheme {
        case "http": port = url.port ?? 80
        case "https": port = url.port ?? 443
        default: return nil
        }
        guard (1...65535).contains(port) else { return nil }
        self.scheme = scheme
        self.host = host
    }
}

extension String {
    /// The URL with http or https instead of ws or wss (RFC 6455 §3).
    package var withHTTPScheme: String {
        let scheme = prefix(6).lowercased()
        if scheme.hasPrefix("ws://") { return "http" + dropFirst(2) }
        return scheme == "wss://" ? "https" + dropFirst(3) : self
    }
}
