#if Inspector
/// Decides which requests the server answers.
///
/// A page of another site may try to reach the server from the developer's browser: by a request that carries its
/// `Origin`, or by a name that it lets resolve to 127.0.0.1 (DNS rebinding), which shows in `Host`. Both are refused,
/// also with the right token.
struct Gate {
    /// The result for a request.
    enum Verdict: Equatable {
        /// The token fits; the rest of the path follows, without a slash in front.
        case open(String)
        /// Without a token: only the list of targets may be shown.
        case withoutToken(String)
        /// Another site's page, or a name that is not of this machine.
        case forbidden
        case unknown
    }

    let token: String

    /// - Parameters:
    ///   - path: the path of the request.
    ///   - host: its `Host` field.
    ///   - origin: its `Origin` field, which browsers send with WebSockets and with requests of other sites.
    func verdict(path: String, host: String?, origin: String?) -> Verdict {
        guard let host, Self.isLoopback(host) else { return .forbidden }
        if let origin, !Self.isTrusted(origin, host: host) { return .forbidden }
        guard path.hasPrefix("/") else { return .unknown }
        let parts = path.dropFirst().split(separator: "/", maxSplits: 1, omittingEmptySubsequences: false)
        guard let first = parts.first, Self.isEqual(String(first), token) else {
            return .withoutToken(String(path.dropFirst()))
        }
        // Without the slash, the links of a page would miss the token.
        return parts.count == 2 ? .open(String(parts[1])) : .unknown
    }

    /// Whether `Host` names this machine, with any port: a tunnel has another one.
    private static func isLoopback(_ host: String) -> Bool {
        let host = host.lowercased()
        return ["127.0.0.1", "localhost", "[::1]"].contains { name in
            guard host.hasPrefix(name) else { return false }
            let rest = host.dropFirst(name.count)
            return rest.isEmpty
                || rest.first == ":" && rest.count > 1
                    && rest.dropFirst().allSatisfy { $0.isASCII && $0.isNumber }
        }
    }

    /// Whether the origin is Chrome's developer tools, or the server itself.
    private static func isTrusted(_ origin: String, host: String) -> Bool {
        ["devtools://devtools", "chrome-devtools://devtools", "http://\(host)"].contains(origin)
    }

    /// Compares in a time that does not depend on the number of equal characters.
    private static func isEqual(_ one: String, _ other: String) -> Bool {
        let (one, other) = (Array(one.utf8), Array(other.utf8))
        guard one.count == other.count else { return false }
        return zip(one, other).reduce(0) { $0 | ($1.0 ^ $1.1) } == 0
    }
}
#endif
