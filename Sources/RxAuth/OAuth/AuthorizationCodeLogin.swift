#if Auth
import Crypto
import FoundationEssentials
import RxHTTP
import RxLite
import RxLoop
import RxParameters

/// A login by an authorization code.
struct AuthorizationCodeLogin: Sendable {
    private let endpoint: OAuthEndpoint
    private let requirements: OAuthRequirements
    private let redirect: OAuth.Redirect
    private let state = OAuthRandom.text()
    /// The secret of PKCE.
    private let verifier = OAuthRandom.text()
    private let nonce: String?

    /// The ten minutes in the documentation of ``OAuth/Grant/authorizationCode(redirect:open:)``.
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
            try checkPKCE()
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
        /// As in the authorization request: the server compares them (RFC 6749 §4.1.3).
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
            // By its name a client with a certificate gets another URL.
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
        ]
        parameters += codeChallenge
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

// MARK: - PKCE

/// Only this login can exchange its code: the authorization request has the hash of ``verifier``, and the request for
/// the tokens has ``verifier`` itself (RFC 7636).
extension AuthorizationCodeLogin {
    /// Throws if the server does not support PKCE.
    private func checkPKCE() throws(NetworkError) {
        // A server that names none does not have PKCE (RFC 8414 §2), or is one of those that do not name it; it then
        // ignores or checks the parameters. The app vouches for a server that it has named, and a resource does not.
        guard metadata.codeChallengeMethods?.contains("S256") ?? (endpoint.server.resource == nil) else {
            throw .oauthMetadata(
                "the server \(metadata.issuer.originAndPath) does not support PKCE with S256, without which a code can be "
                    + "stolen; use another grant")
        }
    }

    /// The parameters of the authorization request.
    private var codeChallenge: [(name: String, value: String)] {
        [
            ("code_challenge", SHA256.hash(data: Array(verifier.utf8)).base64URLText),
            ("code_challenge_method", "S256"),
        ]
    }
}
#endif
