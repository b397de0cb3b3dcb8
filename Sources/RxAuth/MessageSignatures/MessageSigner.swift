#if Auth
public import FoundationEssentials
public import HTTPTypes
import RawStructuredFieldValues
public import RxClient
public import RxHTTP
public import RxLite

/// Signs requests by HTTP Message Signatures (RFC 9421).
///
/// ```swift
/// configuration.signer = .messageSignature(key: try .pem(key), keyID: "client-1")
/// ```
///
/// Each exchange is signed anew, with its own time and nonce. Content in memory, and content that can be read twice, gets
/// a `Content-Digest` (RFC 9530) if a signature covers that field; a request without content gets that of no bytes if the
/// field is not covered by ``SignatureComponent/ifPresent``. Fields that the transport sets, such as `Host` and
/// `Content-Length`, cannot be covered; `@authority` covers the host.
public struct MessageSigner: RequestSigner {
    /// One of the signatures that a message gets.
    public struct Recipe: Sendable {
        /// The label of the signature, unique in the message: lower-case letters, digits, `_`, `-`, `.` and `*`.
        public var label: String
        /// The components that it covers.
        public var components: [SignatureComponent]
        /// The key.
        public var key: MessageSigningKey
        /// The name of the key. Default `nil`: not named.
        public var keyID: String?
        /// How long the signature is valid. Default `nil`: it names no end.
        public var lifetime: Duration?
        /// Whether the signature has a nonce. Default false.
        public var hasNonce: Bool
        /// Whether the signature names its algorithm. Default false: the key determines it.
        public var namesAlgorithm: Bool
        /// The application of the signature. Default `nil`.
        public var tag: String?

        /// Creates a recipe.
        public init(
            label: String = "sig1", components: [SignatureComponent] = MessageSigner.standardComponents,
            key: MessageSigningKey, keyID: String? = nil, lifetime: Duration? = nil, hasNonce: Bool = false,
            namesAlgorithm: Bool = false, tag: String? = nil
        ) {
            self.label = label
            self.components = components
            self.key = key
            self.keyID = keyID
            self.lifetime = lifetime
            self.hasNonce = hasNonce
            self.namesAlgorithm = namesAlgorithm
            self.tag = tag
        }
    }

    /// Method, host, path and query, and, where the request has them, the type and the digest of its content.
    public static let standardComponents: [SignatureComponent] = [
        .method, .authority, .path, .query, SignatureComponent.field(.contentType).ifPresent,
        .contentDigest.ifPresent,
    ]

    /// The signatures of each request.
    public var recipes: [Recipe]
    /// The algorithms of the digest of the content. Default SHA-256.
    public var digests: Set<DigestAlgorithm>
    /// The kinds of structured fields that the app has defined, for components such as `"x-data";sf`. Those of RFCs are
    /// known.
    public var structuredFields: [HTTPField.Name: StructuredFieldKind] = [:]
    /// Whether requests outside of the client's servers are signed, such as the target of a redirect. Default false.
    public var signsOtherOrigins = false
    /// The fields that each signed request gets before it is signed.
    var addedFields: HTTPFields = [:]

    /// Creates a signer.
    ///
    /// - Parameters:
    ///   - recipes: the signatures of each request.
    ///   - digests: the algorithms of the digest of the content. Default SHA-256.
    public init(_ recipes: [Recipe], digests: Set<DigestAlgorithm> = [.sha256]) {
        self.recipes = recipes
        self.digests = digests
    }

    /// The request with its signatures.
    ///
    /// Fails with `invalidConfiguration` if the request lacks a component, or has a signature of the label already.
    public func sign(_ request: Request, in context: SigningContext) -> Observable<Request, NetworkError> {
        var request = request
        for field in addedFields { request.headerFields[field.name] = field.value }
        let isEmpty = request.body.isEmpty
        let needsDigest =
            request.headerFields[.contentDigest] == nil && !digests.isEmpty
            && recipes.contains { recipe in
                recipe.components.contains {
                    $0.isContentDigest && !$0.isOfTrailer && !($0.isOptional && isEmpty)
                }
            }
        guard needsDigest else { return signed(request, in: context) }
        // The digest covers the content as it is sent.
        request.compressesContent = false
        switch request.body {
        case .empty: return signed(request, ContentDigest(of: [], digests), in: context)
        case .bytes(let bytes): return signed(request, ContentDigest(of: bytes, digests), in: context)
        case .streamed(let body):
            guard body.isReplayable else {
                return .fail(
                    NetworkError(
                        .invalidConfiguration,
                        "the content can be read only once, but its digest must be known before it is sent; use content "
                            + "in memory or in a file, or set Content-Digest", request: request))
            }
            return body.open(context.files)
                .flatMap { [digests] content in
                    content.chunks.reduce(RunningContentDigest(digests)) { $0.adding($1) }
                }
                .flatMap { [request] digest in signed(request, digest.result, in: context) }
        }
    }

    /// ``signsOtherOrigins``.
    public func signsRequests(to origin: Origin) -> Bool { signsOtherOrigins }

    private func signed(
        _ request: Request, _ digest: ContentDigest? = nil, in context: SigningContext
    ) -> Observable<Request, NetworkError> {
        do throws(NetworkError) {
            var request = request
            if let digest { request.headerFields[.contentDigest] = digest.fieldValue }
            let message = SignableMessage(request)
            let fields = try signatures(of: message, at: context.date)
            for (name, value) in [
                (HTTPField.Name.signatureInput, fields.input), (.signature, fields.signature),
            ] {
                let former = request.headerFields[name]
                request.headerFields[name] = [former, value].compactMap { $0 }.joined(separator: ", ")
            }
            return .just(request)
        } catch { return .fail(error.attributed(to: request)) }
    }

    /// The members of `Signature-Input` and `Signature` for a message, which may also be a response.
    ///
    /// - Throws: `invalidConfiguration` if the message lacks a component, or has a signature of the label already.
    public func signatures(
        of message: SignableMessage, at date: Date
    ) throws(NetworkError) -> (input: String, signature: String) {
        var inputs: [String] = []
        var signatures: [String] = []
        var labels = Set(
            message.headerFields[.signatureInput].flatMap { MessageSignatureInput.all(in: $0) }?.map(\.label)
                ?? [])
        for recipe in recipes {
            guard recipe.label.isStructuredKey else {
                throw .unusableSigner("\(recipe.label.debugDescription) cannot be the label of a signature")
            }
            guard labels.insert(recipe.label).inserted else {
                throw .unusableSigner("the message has a signature with the label \(recipe.label) already")
            }
            let components = recipe.components.filter {
                !$0.isOptional || message.value(of: $0, structuredFields) != nil
            }
            guard Set(components).count == components.count else {
                throw .unusableSigner("the signature \(recipe.label) covers a component twice")
            }
            guard let input = MessageSignatureInput(components, recipe.parameters(at: date)) else {
                throw .unusableSigner("a name in the signature \(recipe.label) is not plain ASCII text")
            }
            let base: [UInt8]
            do throws(MessageSignatureInput.MissingComponent) {
                base = try input.base(of: message, structuredFields)
            } catch {
                throw .unusableSigner(
                    "the message has no \(error.component) that the signature \(recipe.label) could cover")
            }
            let signature = try recipe.key.signature(of: base)
            inputs.append("\(recipe.label)=\(input.text)")
            signatures.append("\(recipe.label)=:\(Data(signature).base64EncodedString()):")
        }
        return (inputs.joined(separator: ", "), signatures.joined(separator: ", "))
    }
}

extension MessageSigner.Recipe {
    fileprivate func parameters(at date: Date) -> MessageSignatureParameters {
        MessageSignatureParameters(
            created: date, expires: lifetime.map { date.addingTimeInterval($0 / .seconds(1)) },
            nonce: hasNonce ? Self.nonce() : nil, algorithm: namesAlgorithm ? key.algorithm.rawValue : nil,
            keyID: keyID, tag: tag)
    }

    /// 24 random bytes.
    private static func nonce() -> String {
        var bytes: [UInt8] = []
        for _ in 0..<3 {
            let number = RandomSource.number()
            for shift in 0..<8 { bytes.append(UInt8(truncatingIfNeeded: number >> UInt64(8 * shift))) }
        }
        return Data(bytes).base64EncodedString()
    }
}

extension RequestSigner where Self == MessageSigner {
    /// A signer with one signature for each request (RFC 9421).
    ///
    /// - Parameters:
    ///   - key: the key.
    ///   - keyID: the name of the key. Default `nil`: not named.
    ///   - components: the components. Default ``MessageSigner/standardComponents``.
    ///   - lifetime: how long each signature is valid. Default `nil`: it names no end.
    ///   - hasNonce: whether each signature has a nonce. Default false.
    ///   - tag: the application of the signature. Default `nil`.
    public static func messageSignature(
        key: MessageSigningKey, keyID: String? = nil,
        components: [SignatureComponent] = MessageSigner.standardComponents, lifetime: Duration? = nil,
        hasNonce: Bool = false, tag: String? = nil
    ) -> MessageSigner {
        MessageSigner([
            MessageSigner.Recipe(
                components: components, key: key, keyID: keyID, lifetime: lifetime, hasNonce: hasNonce,
                tag: tag)
        ])
    }

    /// A signer by the profile of Web Bot Auth (draft-meunier-web-bot-auth-architecture), by which automated clients name
    /// themselves: the signature covers the host and, if it is given, the `Signature-Agent` field, and has the tag
    /// `web-bot-auth`. Redirects are signed as well.
    ///
    /// ```swift
    /// configuration.signer = try .webBot(key: .pem(key), agent: "https://bot.example.com")
    /// ```
    ///
    /// - Parameters:
    ///   - key: a key of Ed25519, which the signature names by its thumbprint (RFC 7638).
    ///   - agent: the `https` URL of the directory with the public key. Default `nil`: the servers know the key.
    ///   - lifetime: how long each signature is valid. Default a minute; the profile advises at most a day.
    /// - Throws: `invalidConfiguration` for a key of another algorithm, or an agent that is no `https` URL.
    public static func webBot(
        key: MessageSigningKey, agent: String? = nil, lifetime: Duration = .seconds(60)
    ) throws(NetworkError) -> MessageSigner {
        guard let thumbprint = key.verifyingKey.thumbprint else {
            throw .unusableSigner("Web Bot Auth requires a key of Ed25519")
        }
        // ``MessageVerifier/Policy/webBot`` requires the components, the end and the tag.
        var signer = MessageSigner([
            MessageSigner.Recipe(
                components: agent == nil ? [.authority] : [.authority, "signature-agent"], key: key,
                keyID: thumbprint, lifetime: lifetime, hasNonce: true, namesAlgorithm: true,
                tag: "web-bot-auth")
        ])
        if let agent {
            guard URL(string: agent).flatMap({ Origin($0) })?.scheme == "https",
                let value = StructuredText.serialized(
                    Item(bareItem: RFC9651BareItem.string(agent), parameters: OrderedMap()))
            else { throw .unusableSigner("the agent of Web Bot Auth is an https URL") }
            signer.addedFields[.signatureAgent] = value
        }
        signer.signsOtherOrigins = true
        return signer
    }
}

extension MessageSigner: RedactedDescription {
    /// The labels of the signatures.
    public var description: String { "message signatures " + recipes.map(\.label).joined(separator: ", ") }
}

extension MessageSigner.Recipe: RedactedDescription {
    /// The label and the algorithm.
    public var description: String { "\(label), \(key)" }
}

extension String {
    /// Whether the text is a key of structured fields (RFC 9651 §3.1.2).
    fileprivate var isStructuredKey: Bool {
        guard let first = utf8.first, first == UInt8(ascii: "*") || (0x61...0x7A).contains(first) else {
            return false
        }
        return utf8.allSatisfy { byte in
            (0x61...0x7A).contains(byte) || (0x30...0x39).contains(byte) || "_-.*".utf8.contains(byte)
        }
    }
}

extension NetworkError {
    fileprivate static func unusableSigner(_ message: String) -> NetworkError {
        NetworkError(.invalidConfiguration, message)
    }
}
#endif
