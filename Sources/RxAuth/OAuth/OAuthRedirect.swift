#if Auth
import Crypto
import FoundationEssentials
import HTTPTypes
public import RxHTTP
public import RxLite
import RxLoop
import RxParameters

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

/// A login by an authorization code.
struct AuthorizationCodeLogin: Sendable {
    private let endpoint: OAuthEndpoint
    private let requirements: OAuthRequirements
    private let redirect: OAuth.Redirect
    private let state = OAuthRandom.text()
    private let verifier = OAuthRandom.text()
    private let nonce: String?

    private static let userTimeout = Duration.seconds(600)

    init(_ endpoint: OAuthEndpoint, _ requirements: OAuthRequirements, _ redirect: OAuth.Redirect) {
        self.endpoint = endpoint
        self.requirements = requirements
        self.redirect = redirect
        nonce = requirements.scopes?.contains("openid") == true ? OAuthRandom.text() : nil
    }

    private var metadata: OAuth.Metadata { endpoint.server.metadata }

    func tokens(_ open: @escaping @Sendable (URL) -> Void) -> Observable<OAuth.Tokens, NetworkError> {
        .deferred { [self] () throws(NetworkError) in
            guard let authorizationURL = metadata.authorizationEndpoint else {
                throw .oauthMetadata(
                    "the server \(metadata.issuer.originAndPath) has no authorization_endpoint; use another grant"
                )
            }
            // A server that names none does not have PKCE (RFC 8414 §2), or is one of those that do not name it; it then
            // ignores or checks the parameters. The app vouches for a server that it has named, and a resource does not.
            guard metadata.codeChallengeMethods?.contains("S256") ?? (endpoint.server.resource == nil) else {
                throw .oauthMetadata(
                    "the server \(metadata.issuer.originAndPath) does not support PKCE with S256, without which a code can be "
                        + "stolen; use another grant")
            }
            let codes = try events(authorizationURL, open)
            let late = NetworkError(
                .oauthTimeout,
                "the user has not come back from the browser within \(Self.userTimeout.components.seconds) s; start a new login"
            )
            return codes.take(1)
                .timeout(Self.userTimeout, until: .end, on: endpoint.context.scheduler) { late }
                .flatMap { found in
                    let parameters = [
                        ("grant_type", "authorization_code"), ("code", found.code),
                        ("redirect_uri", found.redirectURL), ("code_verifier", verifier),
                    ].map { (name: $0.0, value: $0.1) }
                    let resources = requirements.resources.map { (name: "resource", value: $0) }
                    return endpoint.validated(
                        endpoint.tokens(parameters + resources), requirements, nonce: nonce)
                }
        }
    }

    private struct Code: Sendable {
        let code: String
        let redirectURL: String
    }

    /// Opens the authorization URL, and sends the code of the response.
    private func events(
        _ authorizationURL: URL, _ open: @escaping @Sendable (URL) -> Void
    ) throws(NetworkError) -> Observable<Code, NetworkError> {
        switch redirect.kind {
        case .url(let url, let responses):
            guard let parsed = URL(string: url), parsed.scheme != nil, parsed.fragment == nil else {
                throw NetworkError(
                    .invalidConfiguration, "a redirect URL is an absolute URL without a fragment")
            }
            let ended = NetworkError(
                .oauthCallback, "the URLs that the app receives have ended before the user has come back")
            let arrivals = responses.setFailureType(to: NetworkError.self).take(1).ifEmpty(fail: ended)
                .map { text throws(NetworkError) in
                    // The response of another login or server may arrive at another URL of the app (RFC 9700 §4.4.2).
                    guard RedirectWithoutQuery(text) == RedirectWithoutQuery(url) else {
                        throw NetworkError(
                            .oauthCallback,
                            "the URL that the app has received is not the redirect URL; its code was not used"
                        )
                    }
                    guard let response = AuthorizationResponse(url: text) else {
                        throw NetworkError(
                            .oauthCallback,
                            "the URL that the app has received has no response of an authorization server")
                    }
                    return Code(code: try response.code(state: state, metadata), redirectURL: url)
                }
            // The app may have the response as soon as it opens the URL.
            return .merge(arrivals, opening(authorizationURL, url, open))
        case .loopback(let port, let path, let address, let loop):
            let listener = LoopbackListener(
                port: port, path: path, at: address, on: loop ?? .shared
            ) { response in
                guard response.state?.hasSameBytes(as: state) == true else { return nil }
                do throws(NetworkError) {
                    return .success(try response.code(state: state, metadata))
                } catch { return .failure(error) }
            }
            return listener.events.flatMap(.concat) { event -> Observable<Code, NetworkError> in
                switch event {
                case .listening(let url): opening(authorizationURL, url, open)
                case .code(let code, let url): .just(Code(code: code, redirectURL: url))
                }
            }
        }
    }

    /// Pushes the request if the server wants that, and opens the URL. No value.
    private func opening(
        _ authorizationURL: URL, _ redirectURL: String, _ open: @escaping @Sendable (URL) -> Void
    ) -> Observable<Code, NetworkError> {
        .deferred { [self] () throws(NetworkError) in
            let parameters = parameters(redirectURL)
            guard let pushURL = metadata.pushedAuthorizationRequestEndpoint else {
                guard !metadata.requiresPushedRequests else {
                    throw .oauthMetadata(
                        "the server \(metadata.issuer.originAndPath) requires pushed requests and has no endpoint for them"
                    )
                }
                open(try Self.url(authorizationURL, [("client_id", endpoint.client.id)] + parameters))
                return .empty()
            }
            let url = try metadata.endpoint(
                "pushed_authorization_request_endpoint", pushURL, for: endpoint.client)
            return endpoint.post(
                url, [("client_id", endpoint.client.id)] + parameters, "the endpoint of pushed requests",
                isProven: endpoint.dpop != nil
            )
            .flatMap { json throws(NetworkError) -> Observable<Code, NetworkError> in
                let name = try Self.requestName(in: json)
                open(
                    try Self.url(
                        authorizationURL, [("client_id", endpoint.client.id), ("request_uri", name)]))
                return .empty()
            }
        }
    }

    /// The name of a pushed request, in the response to it (RFC 9126 §2.2).
    static func requestName(in json: JSONValue) throws(NetworkError) -> String {
        guard let name = json["request_uri"]?.text, name.isVisibleASCII else {
            throw .oauthResponse("the endpoint of pushed requests answered without a request_uri")
        }
        return name
    }

    private func parameters(_ redirectURL: String) -> [(name: String, value: String)] {
        var parameters: [(name: String, value: String)] = [
            ("response_type", "code"), ("redirect_uri", redirectURL), ("state", state),
            ("code_challenge", SHA256.hash(data: Array(verifier.utf8)).base64URLText),
            ("code_challenge_method", "S256"),
        ]
        if let nonce { parameters.append(("nonce", nonce)) }
        if let dpop = endpoint.dpop { parameters.append(("dpop_jkt", dpop.key.thumbprint)) }
        if requirements.granted(by: metadata).contains("offline_access") {
            // Without it, servers ignore that scope (OpenID Connect Core §11).
            parameters.append(("prompt", "consent"))
        }
        if !requirements.authenticationClasses.isEmpty {
            parameters.append(("acr_values", requirements.authenticationClasses.joined(separator: " ")))
        }
        if let age = requirements.maximumAge {
            parameters.append(("max_age", String(age.components.seconds)))
        }
        return parameters + requirements.parameters(at: metadata)
    }

    /// The URL of the endpoint, whose own query stays (RFC 6749 §3.1).
    private static func url(
        _ endpoint: URL, _ parameters: [(name: String, value: String)]
    ) throws(NetworkError) -> URL {
        let text = endpoint.absoluteString
        let joint = endpoint.query() == nil ? "?" : text.hasSuffix("?") || text.hasSuffix("&") ? "" : "&"
        guard let url = URL(string: text + joint + OAuthContext.form(parameters)) else {
            throw .oauthMetadata("the authorization_endpoint is not a URL that can have a query")
        }
        return url
    }
}
#endif
