#if Auth
public import FoundationEssentials
public import RxHTTP
import RxParameters

extension OAuth {
    /// The metadata of an authorization server (RFC 8414, OpenID Connect Discovery).
    public struct Metadata: Sendable, Hashable {
        /// The issuer identifier.
        public var issuer: String
        /// The endpoint where the user logs in.
        public var authorizationEndpoint: URL?
        /// The endpoint that issues tokens.
        public var tokenEndpoint: URL?
        /// The endpoint of device codes (RFC 8628).
        public var deviceAuthorizationEndpoint: URL?
        /// The endpoint of pushed authorization requests (RFC 9126).
        public var pushedAuthorizationRequestEndpoint: URL?
        /// Whether the server accepts pushed authorization requests only. Default false.
        public var requiresPushedRequests = false
        /// The endpoint that revokes tokens (RFC 7009).
        public var revocationEndpoint: URL?
        /// The endpoint that describes tokens (RFC 7662).
        public var introspectionEndpoint: URL?
        /// The keys that sign ID tokens.
        public var keysURL: URL?
        /// The scopes that the server names; `nil` if it names none.
        public var scopes: [String]?
        /// The methods of client authentication at the token endpoint; `nil` stands for `client_secret_basic`.
        public var clientAuthenticationMethods: [String]?
        /// The methods of PKCE; `nil` if the server names none.
        public var codeChallengeMethods: [String]?
        /// The algorithms of DPoP proofs (RFC 9449 §5.1); `nil` if the server names none.
        public var dpopAlgorithms: [String]?
        /// Whether responses of the authorization endpoint have the issuer (RFC 9207). Default false.
        public var returnsIssuer = false
        /// Whether an https URL can be a client id, for a document that describes the client. Default false.
        public var acceptsClientDocuments = false
        /// The endpoints for clients that authenticate with a certificate (RFC 8705 §5), by the names of RFC 8414.
        public var certificateEndpoints: [String: URL] = [:]

        /// Creates metadata, for a server that publishes none.
        ///
        /// - Parameters:
        ///   - issuer: the issuer identifier.
        ///   - authorizationEndpoint: the endpoint where the user logs in. Default `nil`.
        ///   - tokenEndpoint: the endpoint that issues tokens.
        public init(issuer: String, authorizationEndpoint: URL? = nil, tokenEndpoint: URL?) {
            self.issuer = issuer
            self.authorizationEndpoint = authorizationEndpoint
            self.tokenEndpoint = tokenEndpoint
        }

        /// Reads a document.
        ///
        /// - Parameters:
        ///   - document: the JSON text.
        ///   - issuer: the issuer identifier that the document must have, byte by byte.
        /// - Throws: `oauthMetadata` for a document that is malformed, is that of another issuer, or has an endpoint that
        ///   is not reached by https. A loopback issuer may have http endpoints at loopback addresses.
        public init(_ document: [UInt8], issuer: String) throws(NetworkError) {
            guard let json = JSONValue(parsing: document), case .object = json else {
                throw .oauthMetadata(
                    "the metadata of \(issuer.originAndPath) are not a JSON object; check the issuer identifier"
                )
            }
            guard let named = json["issuer"]?.text, named.hasSameBytes(as: issuer) else {
                throw .oauthMetadata(
                    "the metadata are not those of \(issuer.originAndPath): their issuer differs; use the issuer "
                        + "exactly as the server writes it, or do not trust the server")
            }
            let isLocal = OAuthURL(issuer)?.isLoopback == true
            let endpoint = { (name: String, value: JSONValue?) throws(NetworkError) -> URL? in
                guard let value, value != .null else { return nil }
                guard let text = value.text, let url = OAuthURL(text), url.isSecure, url.url.fragment == nil,
                    isLocal || !url.isLoopback || url.url.scheme?.lowercased() == "https"
                else {
                    throw .oauthMetadata(
                        "\(name) of \(issuer.originAndPath) is not an https URL; correct it at the server, or use "
                            + "OAuth.Provider.known(_:)")
                }
                return url.url
            }
            let list = { (name: String) throws(NetworkError) -> [String]? in
                guard let value = json[name], value != .null else { return nil }
                guard let texts = value.texts else {
                    throw .oauthMetadata("\(name) of \(issuer.originAndPath) is not a list of texts")
                }
                return texts
            }
            // ``checkEndpoints()`` lists the same endpoints.
            self.init(
                issuer: issuer,
                authorizationEndpoint: try endpoint(
                    "authorization_endpoint", json["authorization_endpoint"]),
                tokenEndpoint: try endpoint("token_endpoint", json["token_endpoint"]))
            deviceAuthorizationEndpoint = try endpoint(
                "device_authorization_endpoint", json["device_authorization_endpoint"])
            pushedAuthorizationRequestEndpoint = try endpoint(
                "pushed_authorization_request_endpoint", json["pushed_authorization_request_endpoint"])
            revocationEndpoint = try endpoint("revocation_endpoint", json["revocation_endpoint"])
            introspectionEndpoint = try endpoint("introspection_endpoint", json["introspection_endpoint"])
            keysURL = try endpoint("jwks_uri", json["jwks_uri"])
            requiresPushedRequests = json["require_pushed_authorization_requests"]?.flag ?? false
            scopes = try list("scopes_supported")
            clientAuthenticationMethods = try list("token_endpoint_auth_methods_supported")
            codeChallengeMethods = try list("code_challenge_methods_supported")
            dpopAlgorithms = try list("dpop_signing_alg_values_supported")
            returnsIssuer = json["authorization_response_iss_parameter_supported"]?.flag ?? false
            acceptsClientDocuments = json["client_id_metadata_document_supported"]?.flag ?? false
            if case .object(let aliases)? = json["mtls_endpoint_aliases"] {
                for (name, value) in aliases {
                    certificateEndpoints[name] = try endpoint(name, value)
                }
            }
        }

        /// Checks metadata that the app has made, as ``init(_:issuer:)`` does a document: both list all
        /// endpoints.
        ///
        /// - Throws: `oauthMetadata` for an endpoint that is reached neither by https nor at a loopback address.
        func checkEndpoints() throws(NetworkError) {
            let endpoints: [(String, URL?)] = [
                ("authorization_endpoint", authorizationEndpoint), ("token_endpoint", tokenEndpoint),
                ("device_authorization_endpoint", deviceAuthorizationEndpoint),
                ("pushed_authorization_request_endpoint", pushedAuthorizationRequestEndpoint),
                ("revocation_endpoint", revocationEndpoint),
                ("introspection_endpoint", introspectionEndpoint), ("jwks_uri", keysURL),
            ]
            let aliases: [(String, URL?)] = certificateEndpoints.map { ($0.key, $0.value) }
            for (name, url) in endpoints + aliases {
                guard let url else { continue }
                guard let parsed = OAuthURL(url.absoluteString), parsed.isSecure, url.fragment == nil
                else {
                    throw .oauthMetadata(
                        "\(name) of \(issuer.originAndPath) is not an https URL (http is for loopback addresses); "
                            + "correct it in the metadata of OAuth.Provider.known(_:)")
                }
            }
        }

        /// The endpoint with a name of RFC 8414, which is the key in ``certificateEndpoints``, for a client.
        func endpoint(_ name: String, _ url: URL?, for client: OAuth.Client) throws(NetworkError) -> URL {
            let alias = client.authentication.usesCertificate ? certificateEndpoints[name] : nil
            guard let url = alias ?? url else {
                throw .oauthMetadata("the server \(issuer.originAndPath) has no \(name); use another grant")
            }
            return url
        }
    }

    /// The metadata of a protected resource (RFC 9728).
    struct ResourceMetadata: Sendable, Hashable {
        /// The resource identifier.
        var resource: String
        /// The issuers of the tokens that the resource accepts.
        var authorizationServers: [String]
        /// The scopes that the resource names; `nil` if it names none.
        var scopes: [String]?

        /// Reads a document.
        ///
        /// - Parameter resource: the URL of the protected resource. The document must be that of the same resource, or of
        ///   one at the same origin whose path the URL continues.
        init(_ document: [UInt8], for resource: String) throws(NetworkError) {
            guard let json = JSONValue(parsing: document), case .object = json else {
                throw .oauthMetadata(
                    "the metadata of the resource \(resource.originAndPath) are not a JSON object")
            }
            guard let named = json["resource"]?.text, let own = OAuthURL(named), own.isSecure,
                own.url.fragment == nil, let wanted = OAuthURL(resource), own.includes(wanted)
            else {
                throw .oauthMetadata(
                    "the metadata are those of another resource than \(resource.originAndPath); do not send tokens to it"
                )
            }
            guard let servers = json["authorization_servers"]?.texts, !servers.isEmpty,
                servers.allSatisfy({ OAuthURL($0)?.isSecure == true })
            else {
                throw .oauthMetadata(
                    "the resource \(resource.originAndPath) names no authorization server with an https URL; name the "
                        + "issuer in the app")
            }
            self.resource = named
            authorizationServers = servers
            scopes = json["scopes_supported"]?.texts
        }
    }
}

/// A URL of an authorization server or a resource.
struct OAuthURL: Sendable {
    let url: URL
    let origin: Origin

    /// An absolute http or https URL without user info.
    init?(_ text: String) {
        guard text.utf8.count <= 4096, text.utf8.allSatisfy({ (0x21...0x7E).contains($0) }),
            let url = URL(string: text), let origin = Origin(url), url.user() == nil, url.password() == nil
        else { return nil }
        self.url = url
        self.origin = origin
    }

    /// Whether the host is this machine.
    var isLoopback: Bool {
        let host = origin.host
        if host == "localhost" || host == "::1" || host == "[::1]" { return true }
        let parts = host.split(separator: ".", omittingEmptySubsequences: false)
        return parts.count == 4 && parts[0] == "127" && parts.allSatisfy { UInt8($0) != nil }
    }

    /// Whether nobody on the way can read or change what is sent.
    var isSecure: Bool { origin.scheme == "https" || isLoopback }

    /// The path without a slash at its end.
    var path: Substring {
        let path = url.path(percentEncoded: true)
        return path.hasSuffix("/") ? path.dropLast() : path[...]
    }

    /// Whether another URL is at the same origin, and its path is the same or continues this one.
    func includes(_ other: OAuthURL) -> Bool {
        guard origin == other.origin, url.query() == nil || url.query() == other.url.query() else {
            return false
        }
        return other.path.utf8.elementsEqual(path.utf8)
            || other.path.utf8.starts(with: (String(path) + "/").utf8)
    }

    /// The URL with a well-known suffix between host and path (RFC 8615), or only after the host.
    func wellKnown(_ suffix: String, withPath: Bool = true) -> URL? {
        let host = origin.host.contains(":") && !origin.host.hasPrefix("[") ? "[\(origin.host)]" : origin.host
        let port = url.port.map { ":\($0)" } ?? ""
        let base = "\(origin.scheme)://\(host)\(port)/.well-known/\(suffix)"
        return URL(string: withPath ? base + path : base)
    }
}

extension String {
    /// Origin and path of a URL, for errors and descriptions: the rest may be secret.
    var originAndPath: String {
        guard let url = URL(string: self), let origin = Origin(url) else { return "the text that is no URL" }
        let port = url.port.map { ":\($0)" } ?? ""
        return "\(origin.scheme)://\(origin.host)\(port)\(url.path(percentEncoded: true))"
    }
}

extension NetworkError {
    static func oauthMetadata(_ message: String, because cause: NetworkError? = nil) -> NetworkError {
        var error = NetworkError(.oauthMetadata, message)
        error.cause = cause
        return error
    }
}
#endif
