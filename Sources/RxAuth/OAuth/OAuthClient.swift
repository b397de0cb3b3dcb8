#if Auth
import FoundationEssentials
import HTTPTypes
public import RxHTTP
import RxParameters

extension OAuth {
    /// The client of an authorization server: its id, and how it proves it.
    public struct Client: Sendable {
        /// The client id.
        public var id: String
        /// How the client authenticates. Default: not at all, as programs on the machines of users.
        public var authentication: Authentication

        /// Creates a client.
        ///
        /// - Parameters:
        ///   - id: the client id.
        ///   - authentication: how the client authenticates. Default ``Authentication/none``.
        public init(id: String, authentication: Authentication = .none) {
            self.id = id
            self.authentication = authentication
        }

        /// A client without a secret, as programs on the machines of users are (RFC 6749 §2.1).
        public static func `public`(_ id: String) -> Client { Client(id: id) }

        /// A client with a secret, which it sends by Basic authentication or, if the server supports only that, in the
        /// form.
        public static func confidential(_ id: String, secret: String) -> Client {
            Client(id: id, authentication: .secret(secret))
        }

        /// A client that is described by a document at an https URL, which is its id
        /// (draft-ietf-oauth-client-id-metadata-document).
        ///
        /// - Parameters:
        ///   - url: the URL, with a path.
        ///   - fallback: the client to use at a server that does not accept such documents. Default `nil`: the login
        ///     fails.
        /// - Throws: `invalidConfiguration` for a URL that is not an https URL with a path, or has user info, a fragment
        ///   or dot segments.
        public static func document(
            _ url: String, fallback: Client? = nil
        ) throws(NetworkError) -> Client {
            guard let parsed = OAuthURL(url), parsed.origin.scheme == "https", parsed.url.fragment == nil,
                !parsed.path.isEmpty,
                !parsed.path.split(separator: "/").contains(where: {
                    [".", ".."].contains(String($0).percentDecoded)
                })
            else {
                throw NetworkError(
                    .invalidConfiguration,
                    "the URL of a client's document is an https URL with a path, without user info, fragment and dot segments"
                )
            }
            var client = Client(id: url)
            client.isDocument = true
            client.fallback = fallback.map { Fallback(id: $0.id, authentication: $0.authentication) }
            return client
        }

        private var isDocument = false
        private var fallback: Fallback?

        private struct Fallback: Sendable {
            let id: String
            let authentication: Authentication
        }

        /// This client, or its fallback at a server that does not accept documents; throws if it has none.
        func known(to metadata: Metadata) throws(NetworkError) -> Client {
            guard isDocument, !metadata.acceptsClientDocuments else { return self }
            guard let fallback else {
                throw .oauthMetadata(
                    "the server \(metadata.issuer.originAndPath) does not accept the URL of a document as the id of a "
                        + "client; register a client and use its id")
            }
            return Client(id: fallback.id, authentication: fallback.authentication)
        }
    }
}

extension OAuth.Client: RedactedDescription {
    /// The id and the method of authentication; never a secret.
    public var description: String { "client \(id), \(authentication)" }
}

extension OAuth.Client {
    /// How a client proves its id to the endpoints of an authorization server.
    public struct Authentication: Sendable {
        enum Kind: Sendable {
            case none
            case secret(String)
            case basic(String)
            case post(String)
            case assertion(MessageSigningKey, keyID: String?, audience: String?)
            case certificate
        }

        let kind: Kind

        /// Not at all: the client has no secret. It sends its id only.
        public static let none = Authentication(kind: .none)

        /// By a secret, as the server supports it: Basic authentication, otherwise in the form.
        public static func secret(_ secret: String) -> Authentication {
            Authentication(kind: .secret(secret))
        }

        /// By a secret in the `Authorization` field; id and secret are encoded as in forms (RFC 6749 §2.3.1).
        public static func basic(secret: String) -> Authentication { Authentication(kind: .basic(secret)) }

        /// By a secret in the form (`client_secret_post`).
        public static func post(secret: String) -> Authentication { Authentication(kind: .post(secret)) }

        /// By a token that the client signs (RFC 7523 §2.2): with a private key, or with a secret that is the key of HMAC.
        ///
        /// - Parameters:
        ///   - key: the key. Each algorithm of ``MessageSigningKey`` has its name in tokens, such as `ES256`.
        ///   - keyID: the id of the key at the server. Default `nil`: not named.
        ///   - audience: the audience of the token. Default `nil`: the issuer, so that no other server can use it.
        public static func privateKey(
            _ key: MessageSigningKey, keyID: String? = nil, audience: String? = nil
        ) -> Authentication {
            Authentication(kind: .assertion(key, keyID: keyID, audience: audience))
        }

        /// By the certificate of the connection (RFC 8705), which the TLS configuration of the transport has. The
        /// requests go to the endpoints that the server has for it.
        public static let certificate = Authentication(kind: .certificate)

        var usesCertificate: Bool { if case .certificate = kind { true } else { false } }
    }
}

extension OAuth.Client.Authentication: RedactedDescription {
    /// The method; never a secret.
    public var description: String {
        switch kind {
        case .none: "without authentication"
        case .secret: "with a secret"
        case .basic: "with a secret in Basic authentication"
        case .post: "with a secret in the form"
        case .assertion(let key, _, _): "with a token signed by \(key)"
        case .certificate: "with a certificate"
        }
    }
}

extension OAuth.Client {
    /// A POST to an endpoint with the authentication of the client.
    func request(
        _ url: URL, _ given: [(name: String, value: String)], _ metadata: OAuth.Metadata, at date: Date
    ) throws(NetworkError) -> Request {
        guard !id.isEmpty, id.utf8.allSatisfy({ $0 >= 0x20 && $0 != 0x7F }) else {
            throw NetworkError(
                .invalidConfiguration, "a client id has one or more characters, and no control character")
        }
        // A pushed request has the id in any case (RFC 9126 §2.1).
        var parameters = given.filter { $0.name != "client_id" }
        let namesClient = parameters.count < given.count
        var fields: HTTPFields = [:]
        switch authentication.kind {
        case .none, .certificate: parameters.append(("client_id", id))
        case .secret(let secret):
            let methods = metadata.clientAuthenticationMethods ?? ["client_secret_basic"]
            if methods.contains("client_secret_post"), !methods.contains("client_secret_basic") {
                parameters += [("client_id", id), ("client_secret", secret)]
            } else {
                fields[.authorization] = Self.basic(id, secret)
            }
        case .basic(let secret): fields[.authorization] = Self.basic(id, secret)
        case .post(let secret): parameters += [("client_id", id), ("client_secret", secret)]
        case .assertion(let key, let keyID, let audience):
            let claims: [String: JSONValue] = [
                "iss": .string(id), "sub": .string(id), "aud": .string(audience ?? metadata.issuer),
                "jti": .string(OAuthRandom.text(bytes: 16)),
                "iat": .integer(date.issueSeconds), "exp": .integer(date.issueSeconds + 60),
            ]
            parameters += [
                ("client_id", id),
                ("client_assertion_type", "urn:ietf:params:oauth:client-assertion-type:jwt-bearer"),
                ("client_assertion", try JSONWebToken.signed(claims, by: key, keyID: keyID)),
            ]
        }
        if namesClient, !parameters.contains(where: { $0.name == "client_id" }) {
            parameters.append(("client_id", id))
        }
        var request = OAuthContext.form(url, parameters)
        for field in fields { request.headerFields[field.name] = field.value }
        return request
    }

    private static func basic(_ id: String, _ secret: String) -> String {
        "Basic " + Data("\(id.formEncoded):\(secret.formEncoded)".utf8).base64EncodedString()
    }
}

extension Date {
    /// Seconds since 1970, as in tokens (RFC 7519 §2).
    var wholeSeconds: Int64 { Int64(timeIntervalSince1970.rounded(.down)) }

    /// The `iat` of a token made now: the second before. Some servers refuse what was issued in the future, and read it from
    /// time(2), which is up to a tick behind the clock of this process even on the same machine.
    var issueSeconds: Int64 { wholeSeconds - 1 }
}
#endif
