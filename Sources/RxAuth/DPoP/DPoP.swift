#if Auth
import Crypto
import FoundationEssentials
import HTTPTypes
public import RxClient
public import RxHTTP
public import RxLite
import RxParameters
import Synchronization

/// Proofs that the sender of a token has the key that it is bound to (DPoP, RFC 9449).
///
/// ```swift
/// let dpop = DPoP()
/// configuration.session = .oauth(
///     .discover("https://id.example.com"), client: .public("cli"), flow: .device { show($0.userCode) }, dpop: dpop)
/// configuration.signer = dpop
/// ```
///
/// Give the session and the signer of its clients the same value: tokens are then bound to its key, and each exchange has
/// a new proof, with the hash of its token. Requests whose `Authorization` is not of the scheme `DPoP` have none.
///
/// The nonces of servers are learnt from all responses, for each origin. An exchange that the server refuses for its nonce
/// is sent once more with the nonce of its own refusal, which may be good for one use, unless its body can be sent only
/// once. Copies share the nonces.
/// Thread-safe.
public struct DPoP: RequestSigner {
    /// The key of the proofs.
    public let key: Key
    let nonces = DPoPNonces()

    /// Creates proofs by a key.
    ///
    /// - Parameter key: the key. Default: a new one in memory, so that the tokens end with the process. Tokens that are
    ///   stored need a key that is stored.
    public init(key: Key = .generated()) { self.key = key }

    /// A proof for an exchange: one value, then completion.
    ///
    /// - Parameters:
    ///   - method: the method of the request.
    ///   - url: the URL of the request; its user info, query and fragment are left out.
    ///   - token: the access token in the request, if any.
    ///   - nonce: the nonce of the refusal of this exchange. Default `nil`: the latest one of the server, if any.
    ///   - date: the time of the proof.
    func proof(
        _ method: HTTPRequest.Method, _ url: String, token: String?, nonce: String? = nil, at date: Date
    ) -> Observable<String, NetworkError> {
        // For `htu`, which servers compare with the URL that they have received (RFC 9449 §4.3).
        let target = RequestTarget(method, url).map { "\($0.scheme)://\($0.authority)\($0.path)" }
        var claims: [String: JSONValue] = [
            "htm": .string(method.rawValue), "htu": .string(target ?? ""),
            "jti": .string(OAuthRandom.text(bytes: 24)), "iat": .integer(date.issueSeconds),
        ]
        if let token { claims["ath"] = .string(SHA256.hash(data: Array(token.utf8)).base64URLText) }
        if let nonce = nonce ?? URL(string: url).flatMap({ Origin($0) }).flatMap({ nonces[$0] }) {
            claims["nonce"] = .string(nonce)
        }
        let header: [String: JSONValue] = [
            "typ": .string("dpop+jwt"), "alg": .string(key.algorithm),
            "jwk": .object(key.publicKey.mapValues { .string($0) }),
        ]
        let text = JSONWebToken.unsigned(header, claims)
        return key.sign(Array(text.utf8)).take(1).map { text + "." + $0.base64URLText }
    }

    /// The request with a proof, if it carries a token of the scheme `DPoP`, which ``OAuth/Login/placement`` writes.
    public func sign(_ request: Request, in context: SigningContext) -> Observable<Request, NetworkError> {
        guard let field = request.headerFields[.authorization], field.prefix(5).lowercased() == "dpop " else {
            return .just(request)
        }
        return proof(
            request.method, request.urlText, token: String(field.dropFirst(5)),
            nonce: context.isRepeated ? nonces.takeRefusal(of: request.id) : nil, at: context.date
        )
        .map { proof in
            var request = request
            request.headerFields[.dpop] = proof
            return request
        }
    }

    /// Learns the nonce of the server, and asks for the exchange once more if it was refused for the lack of it.
    public func receive(_ head: ResponseHead, to request: Request, in context: SigningContext) -> Bool {
        guard let nonce = learn(from: head, of: request), !context.isRepeated,
            head.status == .unauthorized, request.body.isReplayable,
            OAuthChallenge.all(in: head).contains(where: { $0.error == "use_dpop_nonce" })
        else { return false }
        nonces.addRefusal(of: request.id, nonce)
        return true
    }

    /// Learns the nonce of the server. ``OAuthEndpoint`` repeats its requests itself.
    ///
    /// - Returns: the nonce, if the response has one.
    func learn(from head: ResponseHead, of request: Request) -> String? {
        guard let origin = Origin(request.url), let nonce = head[.dpopNonce], nonce.isVisibleASCII,
            nonce.utf8.count <= DPoPNonces.sizeLimit
        else { return nil }
        nonces[origin] = nonce
        return nonce
    }
}

extension DPoP: RedactedDescription {
    /// The thumbprint of the key.
    public var description: String { "DPoP by \(key)" }
}

extension DPoP {
    /// A key of proofs: one in memory, or one that another place keeps, such as a security chip.
    public struct Key: Sendable {
        /// The name of the algorithm in proofs, such as `ES256`.
        public let algorithm: String
        /// The members of the public key as a JSON Web Key (RFC 7517).
        public let publicKey: [String: String]
        let sign: @Sendable ([UInt8]) -> Observable<[UInt8], NetworkError>

        /// A new key of P-256 in memory (`ES256`), which all servers with DPoP know.
        public static func generated() -> Key {
            let key = MessageSigningKey.generatedP256()
            return Key(key, key.verifyingKey.publicMembers ?? [:])
        }

        /// Creates a key from one in memory.
        ///
        /// - Parameter key: a private key.
        /// - Throws: `invalidConfiguration` for a secret of HMAC, which has no public key.
        public init(_ key: MessageSigningKey) throws(NetworkError) {
            guard let members = key.verifyingKey.publicMembers else {
                throw NetworkError(
                    .invalidConfiguration, "DPoP requires a private key; a secret of HMAC has no public key")
            }
            self.init(key, members)
        }

        private init(_ key: MessageSigningKey, _ members: [String: String]) {
            self.init(algorithm: key.algorithm.tokenName, publicKey: members) { bytes in
                .deferred { () throws(NetworkError) in .just(try key.signature(of: bytes)) }
            }
        }

        /// Creates a key that is kept elsewhere.
        ///
        /// - Parameters:
        ///   - algorithm: the name of the algorithm, such as `ES256` (RFC 7518 §3.1).
        ///   - publicKey: the required members of the public key as a JSON Web Key, such as `kty`, `crv`, `x` and `y`.
        ///   - sign: signs bytes: the signature in the form of RFC 7518 §3.4 (both numbers for ECDSA, not DER), then
        ///     completion.
        public init(
            algorithm: String, publicKey: [String: String],
            sign: @escaping @Sendable ([UInt8]) -> Observable<[UInt8], NetworkError>
        ) {
            self.algorithm = algorithm
            self.publicKey = publicKey
            self.sign = sign
        }

        /// The thumbprint of the public key (RFC 7638), to which tokens are bound.
        public var thumbprint: String { JSONWebKeySet.thumbprint(of: publicKey) }
    }
}

extension DPoP.Key: RedactedDescription {
    /// The algorithm and the thumbprint; never the private key.
    public var description: String { "\(algorithm) key \(thumbprint)" }
}

/// The latest nonces of servers, and those of refusals whose exchanges are about to be repeated.
final class DPoPNonces: Sendable {
    private let contents = Mutex<[Origin: String]>([:])
    /// By the ids of the requests; a request and its hedge can be refused at the same time.
    private let refusals = Mutex<[RequestID: [String]]>([:])

    /// The most bytes of a nonce.
    static let sizeLimit = 1024
    /// The most origins.
    private static let limit = 64
    /// The most refused requests, of which those that were cancelled before they were repeated stay.
    private static let refusalLimit = 1024

    subscript(origin: Origin) -> String? {
        get { contents.withLock { $0[origin] } }
        set {
            contents.withLock { contents in
                // A forgotten nonce costs one more exchange.
                if contents[origin] == nil, contents.count >= Self.limit { contents = [:] }
                contents[origin] = newValue
            }
        }
    }

    func addRefusal(of id: RequestID, _ nonce: String) {
        refusals.withLock { refusals in
            // Those that are forgotten use the latest nonce.
            if refusals.count >= Self.refusalLimit { refusals = [:] }
            refusals[id, default: []].append(nonce)
        }
    }

    /// The nonce of a refusal of a request, once: each exchange that ``DPoP/receive(_:to:in:)`` repeats takes one.
    func takeRefusal(of id: RequestID) -> String? {
        refusals.withLock { refusals in
            let nonce = refusals[id]?.popLast()
            if refusals[id]?.isEmpty == true { refusals[id] = nil }
            return nonce
        }
    }
}

extension HTTPField.Name {
    static let dpop = HTTPField.Name("DPoP")!
    static let dpopNonce = HTTPField.Name("DPoP-Nonce")!
}
#endif
