/// What stands between this machine and the servers.
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

    /// What the environment says: `http_proxy`, `https_proxy`, `all_proxy`, and `no_proxy` for exceptions.
    public static let environment = Proxy(.environment)
    /// No proxy, whatever the environment says.
    public static let none = Proxy(.none)

    /// A proxy.
    ///
    /// - Parameters:
    ///   - url: where it is, and of which kind: `http://`, `https://` (TLS to the proxy itself), `socks5://`, or
    ///     `socks5h://`, which leaves the names to the proxy (`CURLOPT_PROXY`). User and password stand in the URL,
    ///     percent-encoded: `http://user:password@host:3128`. They are sent to the proxy alone, and shown nowhere.
    ///   - exceptions: hosts that are reached without it: names, which include all names below them, addresses,
    ///     ranges such as `10.0.0.0/8`, or `*` for all (`CURLOPT_NOPROXY`).
    public init(_ url: String, exceptions: [String] = []) {
        self.init(.server(url), exceptions: exceptions)
    }

    private init(_ choice: Choice, exceptions: [String] = []) {
        self.choice = choice
        self.exceptions = exceptions
    }
}

extension Proxy: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// The URL without user and password.
    public var description: String {
        switch choice {
        case .environment: "as the environment says"
        case .none: "none"
        case .server(let url): url.withoutUserInfo
        }
    }

    /// The same as ``description``.
    public var debugDescription: String { description }

    /// Nothing, so that `dump` shows no more than ``description``.
    public var customMirror: Mirror { Mirror(self, children: []) }
}

extension String {
    /// The text with everything taken out that stands like user info in a URL: between `//`, or the beginning of a
    /// word, and an `@`.
    var withoutUserInfo: String {
        guard utf8.contains(UInt8(ascii: "@")) else { return self }
        return split(separator: " ", omittingEmptySubsequences: false).map { word in
            guard let at = word.lastIndex(of: "@") else { return String(word) }
            let scheme = word.range(of: "//", before: at).map { String(word[..<$0]) } ?? ""
            return scheme + word[word.index(after: at)...]
        }.joined(separator: " ")
    }
}

extension Substring {
    /// The end of the first `text` that lies before `end`.
    fileprivate func range(of text: String, before end: Index) -> Index? {
        indices.first { $0 < end && self[$0...].hasPrefix(text) }.map { index($0, offsetBy: text.count) }
    }
}
