#if Auth
public import RxHTTP
public import RxLite
import RxLoop

extension OAuth {
    /// Where an authorization server sends the user after the login.
    public struct Redirect: Sendable {
        enum Kind: Sendable {
            case loopback(port: UInt16, path: String, LoopbackAddress, loop: EventLoop?)
            case url(String, Observable<String, Never>)
        }

        let kind: Kind

        /// A listener at `http://127.0.0.1` with any free port, for one login (RFC 8252 §7.3); at `http://[::1]` on a
        /// machine without IPv4.
        public static let loopback = loopback(port: 0)

        /// A listener on this machine, for one login, for servers that accept one port or one address only.
        ///
        /// - Parameters:
        ///   - port: the port; 0 for any free one. Default 0. If it is taken, the login fails with `oauthLoopback`.
        ///   - path: the path of the redirect URL. Default `/callback`.
        ///   - address: the address. Default ``LoopbackAddress/automatic``.
        public static func loopback(
            port: UInt16 = 0, path: String = "/callback", address: LoopbackAddress = .automatic
        ) -> Redirect {
            Redirect(kind: .loopback(port: port, path: path, address, loop: nil))
        }

        /// The address of a listener on this machine, as the redirect URL has it.
        public enum LoopbackAddress: Sendable, Hashable, CaseIterable {
            /// `127.0.0.1`, or `[::1]` on a machine without IPv4.
            case automatic
            /// `127.0.0.1`.
            case ipv4
            /// `[::1]`.
            case ipv6
        }

        /// A URL that the app receives itself, such as one of its own scheme or of its web server.
        ///
        /// ```swift
        /// let callbacks = Signal<String>()
        /// let redirect = OAuth.Redirect.url("com.example.app:/callback", responses: callbacks.observable)
        /// ```
        ///
        /// - Parameters:
        ///   - url: the redirect URL.
        ///   - responses: the whole URLs that the app receives, with their queries. The first one counts; the login fails
        ///     with `oauthCallback` if it is not the redirect URL with parameters, or if there is none.
        public static func url(_ url: String, responses: Observable<String, Never>) -> Redirect {
            Redirect(kind: .url(url, responses))
        }
    }
}

extension OAuth.Redirect: RedactedDescription {
    /// The kind.
    public var description: String {
        switch kind {
        case .loopback(let port, _, _, _): port == 0 ? "redirect to this machine" : "redirect to port \(port)"
        case .url: "redirect to the app"
        }
    }
}

/// The response of the authorization endpoint, as the parameters of a query (RFC 6749 §4.1.2).
struct AuthorizationResponse: Equatable {
    let state: String?
    let code: String?
    let issuer: String?
    let error: String?
    let errorDescription: String?

    private static let sizeLimit = 16 << 10

    /// Reads a query. `nil` for one that is too long, or has one of these parameters twice (RFC 6749 §3.1).
    init?(query: some StringProtocol) {
        guard query.utf8.count <= Self.sizeLimit else { return nil }
        var found: [String: String] = [:]
        for pair in query.utf8.split(separator: UInt8(ascii: "&")) {
            let sides = pair.split(
                separator: UInt8(ascii: "="), maxSplits: 1, omittingEmptySubsequences: false)
            let name = String(decoding: sides[0], as: UTF8.self).decodedAsForm
            guard ["state", "code", "iss", "error", "error_description"].contains(name) else { continue }
            let value = sides.count > 1 ? String(decoding: sides[1], as: UTF8.self).decodedAsForm : ""
            guard found.updateValue(value, forKey: name) == nil else { return nil }
        }
        state = found["state"]
        code = found["code"]
        issuer = found["iss"]
        error = found["error"]
        errorDescription = found["error_description"]
    }

    /// Reads the query of a redirect URL that an app has received.
    init?(url: String) {
        guard url.utf8.count <= Self.sizeLimit else { return nil }
        let whole = url.utf8.prefix { $0 != UInt8(ascii: "#") }
        guard let mark = whole.firstIndex(of: UInt8(ascii: "?")) else { return nil }
        self.init(query: String(Substring(whole[whole.index(after: mark)...])))
    }

    /// The code, if the response is that of the server for the login.
    ///
    /// - Throws: `oauthCallback` for another `state`, or for an `iss` that is another or missing (RFC 9207 §2.4);
    ///   `oauthRefused` for an error of the server.
    func code(state expected: String, _ metadata: OAuth.Metadata) throws(NetworkError) -> String {
        guard let state, state.hasSameBytes(as: expected) else {
            throw NetworkError(
                .oauthCallback,
                "the redirect is not the response to this login: its state differs; start again, and finish in the browser "
                    + "window of this login")
        }
        if let issuer {
            guard issuer.hasSameBytes(as: metadata.issuer) else {
                throw NetworkError(
                    .oauthCallback,
                    "the redirect comes from another authorization server than \(metadata.issuer.originAndPath); its code "
                        + "was not used")
            }
        } else if metadata.returnsIssuer {
            throw NetworkError(
                .oauthCallback,
                "the redirect does not say which authorization server it comes from; its code was not used")
        }
        if let error { throw .oauthRefused(error, errorDescription, by: "the authorization endpoint") }
        guard let code, code.utf8.allSatisfy({ (0x20...0x7E).contains($0) }), !code.isEmpty else {
            throw NetworkError(.oauthCallback, "the redirect has neither a code nor an error")
        }
        return code
    }
}

/// The part of a URL before its query, as redirect URLs are compared: scheme and host without their case (RFC 3986 §6.2.2.1),
/// and the empty path of a host as `/`.
struct RedirectWithoutQuery: Equatable {
    private let bytes: [UInt8]

    init(_ url: String) {
        let text = url.utf8.prefix { $0 != UInt8(ascii: "?") && $0 != UInt8(ascii: "#") }
        var bytes = Array(text)
        let scheme = bytes.firstIndex(of: UInt8(ascii: ":")) ?? 0
        let hasHost = bytes[scheme...].starts(with: "://".utf8)
        let start = hasHost ? scheme + 3 : scheme
        let end = hasHost ? bytes[start...].firstIndex(of: UInt8(ascii: "/")) ?? bytes.endIndex : scheme
        for index in 0..<end where (0x41...0x5A).contains(bytes[index]) { bytes[index] |= 0x20 }
        if hasHost, end == bytes.endIndex { bytes.append(UInt8(ascii: "/")) }
        self.bytes = bytes
    }
}
#endif
