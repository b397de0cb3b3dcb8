#if Auth
import Crypto
import FoundationEssentials
import HTTPTypes
public import RxClient
public import RxHTTP
public import RxLite
import Synchronization

/// Signs requests to AWS, and to other servers with the same rules, such as object stores (AWS Signature Version 4).
///
/// ```swift
/// configuration.signer = .aws(service: "s3", region: "eu-west-1", credentials: .environment)
/// ```
///
/// Each exchange is signed with the credential and the time of that moment. The signature covers method, host, path,
/// query, the header fields, and the content by the rule of ``AWSPayloadSigning``. Fields that proxies or the transport
/// change are not covered, such as `User-Agent`, `Accept-Encoding` and `Expect`.
///
/// If the server refuses a request, and the time in its `Date` field differs from the client's by more than four
/// minutes, the signer adopts that time and the request is sent once more.
///
/// Redirects to `https` hosts of ``trustedDomains`` are signed for the new host; others go without a signature.
public final class AWSSigner: ImmediateSigner {
    /// The name of the service in signatures, such as `s3` or `dynamodb`.
    public let service: String
    /// The region of the service, such as `eu-west-1`. For version 4A, the regions with commas between them, or `*`.
    public let region: String
    /// The source of the keys.
    public let credentials: AWSCredentials
    /// How signatures cover the content of requests.
    public let payload: AWSPayloadSigning
    /// The version of the signatures.
    public let version: AWSSignatureVersion
    /// The domains at which redirects are signed, in addition to the client's servers.
    public let trustedDomains: Set<String>

    let scheme: AWSSigningScheme
    private let state = Mutex(State())

    private struct State {
        /// The server's time, minus the time of the client.
        var skew: TimeInterval = 0
        var key: (credential: AWSCredential, day: String, key: AWSSigningKey)?
        /// The date of the latest signature.
        var date: AWSDate?
    }

    /// The domains of AWS.
    public static let domains: Set<String> = ["amazonaws.com", "amazonaws.com.cn", "api.aws"]

    /// A difference of the clocks up to which no server refuses a signature, in seconds.
    private static let tolerance: TimeInterval = 240

    /// Creates a signer.
    ///
    /// - Parameters:
    ///   - service: the name of the service in signatures.
    ///   - region: the region, or for version 4A the set of regions.
    ///   - credentials: the source of the keys.
    ///   - payload: how signatures cover the content. Default ``AWSPayloadSigning/automatic``.
    ///   - version: the version of the signatures. Default ``AWSSignatureVersion/v4``.
    ///   - trustedDomains: the domains at which redirects are signed. Default ``domains``.
    public init(
        service: String, region: String, credentials: AWSCredentials, payload: AWSPayloadSigning = .automatic,
        version: AWSSignatureVersion = .v4, trustedDomains: Set<String> = AWSSigner.domains
    ) {
        self.service = service
        self.region = region
        self.credentials = credentials
        self.payload = payload
        self.version = version
        self.trustedDomains = trustedDomains
        scheme = AWSSigningScheme(service: service, region: region, version: version)
    }

    /// The request with the signature in its `Authorization` field.
    ///
    /// Fails with `invalidConfiguration` for content that cannot be signed as ``payload`` says, and with the error of
    /// the credential's source.
    public func sign(_ request: Request, in context: SigningContext) -> Observable<Request, NetworkError> {
        guard let credential = credentials.current(at: context.date) else {
            return credentials.credential(in: context).flatMap { [self] in sign(request, by: $0, in: context)
            }
        }
        return sign(request, by: credential, in: context)
    }

    /// Signs as ``sign(_:in:)`` does, which the client calls if this returns false.
    package func signNow(
        _ request: inout Request, in context: SigningContext
    ) throws(NetworkError) -> Bool {
        guard let credential = credentials.current(at: context.date),
            case .text(let payload) = try plan(for: request)
        else { return false }
        let (date, key) = try signing(by: credential, at: context.date)
        try sign(&request, payload, credential, date, key)
        return true
    }

    /// Adopts the server's time if the server refuses the request and the clocks differ. The request is then sent once
    /// more.
    public func receive(_ head: ResponseHead, to request: Request, in context: SigningContext) -> Bool {
        guard [400, 401, 403].contains(head.status.code),
            let date = head[.date].flatMap({ Date(httpDate: $0, now: context.date) })
        else { return false }
        let skew = date.timeIntervalSince(context.date)
        return state.withLock { state in
            guard abs(skew - state.skew) > Self.tolerance else { return false }
            state.skew = skew
            return true
        }
    }

    /// Whether the origin uses TLS and its host is one of ``trustedDomains`` or below.
    public func signsRequests(to origin: Origin) -> Bool {
        origin.scheme == "https"
            && trustedDomains.contains { origin.host == $0 || origin.host.hasSuffix("." + $0) }
    }

    // MARK: - Signing

    private func sign(
        _ request: Request, by credential: AWSCredential, in context: SigningContext
    ) -> Observable<Request, NetworkError> {
        do throws(NetworkError) {
            let (date, key) = try signing(by: credential, at: context.date)
            switch try plan(for: request) {
            case .text(let payload):
                var request = request
                try sign(&request, payload, credential, date, key)
                return .just(request)
            case .hash(let body):
                return body.open(context.files)
                    .flatMap { content in
                        content.chunks.reduce(RunningDigest()) { digest, bytes in digest.adding(bytes) }
                    }
                    .map { [self] digest throws(NetworkError) in
                        var request = request
                        try sign(&request, digest.text, credential, date, key)
                        return request
                    }
            case .chunks(let body, let isSigned, let checksum):
                return length(of: body, context.files).map { [self] length throws(NetworkError) in
                    try chunked(
                        request, body, length: length, isSigned: isSigned, checksum, credential, date, key)
                }
            }
        } catch { return .fail(error) }
    }

    /// The date of a signature, and its key.
    func signing(
        by credential: AWSCredential, at date: Date
    ) throws(NetworkError) -> (AWSDate, AWSSigningKey) {
        let (latest, known) = state.withLock { state in
            let date = date.addingTimeInterval(state.skew)
            let latest = state.date.flatMap { $0.isSame(as: date) ? $0 : nil } ?? AWSDate(date)
            state.date = latest
            return (latest, state.key)
        }
        if let known, known.day == latest.day, known.credential == credential {
            return (latest, known.key)
        }
        let key = try AWSSigningKey(
            version, of: credential, day: latest.day, region: region, service: service)
        state.withLock { $0.key = (credential, latest.day, key) }
        return (latest, key)
    }

    private enum Plan {
        /// The text in place of the payload's hash is known.
        case text(String)
        case hash(StreamedBody)
        case chunks(Body, isSigned: Bool, AWSChecksum?)
    }

    private func plan(for request: Request) throws(NetworkError) -> Plan {
        switch payload {
        case .unsigned: return .text(AWSSigningScheme.unsignedPayload)
        case .chunked where !request.body.isEmpty: return .chunks(request.body, isSigned: true, nil)
        case .chunkedWithChecksum(let checksum) where !request.body.isEmpty:
            return .chunks(request.body, isSigned: true, checksum)
        case .unsignedWithChecksum(let checksum) where !request.body.isEmpty:
            return .chunks(request.body, isSigned: false, checksum)
        default: break
        }
        switch request.body {
        case .empty: return .text(AWSSigningScheme.emptyPayload)
        case .bytes(let bytes): return .text(bytes.sha256Text)
        case .streamed(let body) where body.count == 0: return .text(AWSSigningScheme.emptyPayload)
        case .streamed(let body):
            if payload == .automatic, scheme.isS3 {
                if body.isReplayable || body.count != nil {
                    return .chunks(request.body, isSigned: true, nil)
                }
                return .text(AWSSigningScheme.unsignedPayload)
            }
            guard body.isReplayable else {
                throw NetworkError(
                    .invalidConfiguration,
                    "the content can be read only once, but its hash must be known before it is sent; "
                        + "use content in memory or in a file, or the payload signing .unsigned",
                    request: request)
            }
            return .hash(body)
        }
    }

    private func sign(
        _ request: inout Request, _ payload: String, _ credential: AWSCredential, _ date: AWSDate,
        _ key: AWSSigningKey
    ) throws(NetworkError) {
        if payload == AWSSigningScheme.unsignedPayload {
            guard request.urlText.prefix(6).lowercased() == "https:" else {
                throw NetworkError(
                    .invalidConfiguration, "content without a signature is sent over https only",
                    request: request)
            }
        } else if !request.body.isEmpty {
            // The server hashes the content as it arrives.
            request.compressesContent = false
        }
        try scheme.sign(&request, payload: payload, by: credential, at: date, with: key)
    }

    // MARK: - Chunks

    private func length(
        of body: Body, _ files: any FileSystem
    ) -> Observable<Int64, NetworkError> {
        guard case .streamed(let streamed) = body, body.count == nil else { return .just(body.count ?? 0) }
        guard streamed.isReplayable else { return .fail(Self.unknownLength) }
        return streamed.open(files).map { content throws(NetworkError) in
            guard let length = content.length else { throw Self.unknownLength }
            return length
        }
    }

    private static let unknownLength = NetworkError(
        .invalidConfiguration,
        "the server requires the length of content that is signed in chunks; give the stream a length, or use the "
            + "payload signing .unsigned")

    private func chunked(
        _ request: Request, _ body: Body, length: Int64, isSigned: Bool, _ checksum: AWSChecksum?,
        _ credential: AWSCredential, _ date: AWSDate, _ key: AWSSigningKey
    ) throws(NetworkError) -> Request {
        guard isSigned || request.urlText.prefix(6).lowercased() == "https:" else {
            throw NetworkError(
                .invalidConfiguration, "content without a signature is sent over https only", request: request
            )
        }
        var request = request
        request.compressesContent = false
        let coding = request.headerFields[.contentEncoding]
        request.headerFields[.contentEncoding] = ["aws-chunked", coding].compactMap { $0 }.joined(
            separator: ",")
        request.headerFields[.amzDecodedContentLength] = String(length)
        if let checksum { request.headerFields[.amzTrailer] = checksum.field }
        let payload = AWSChunking.payload(isSigned ? version : nil, hasTrailer: checksum != nil)
        let seed = try scheme.sign(&request, payload: payload, by: credential, at: date, with: key)
        let chunking = AWSChunking(signing: isSigned ? (key, date, seed) : nil, checksum: checksum)
        request.body = .streamed(
            StreamedBody(
                isReplayable: body.isReplayable,
                count: chunking.codedLength(
                    of: length, signature: isSigned ? version.chunkSignatureLength : nil)
            ) { files in
                switch body {
                case .empty: .just(chunking.coded(.empty(), length: 0))
                case .bytes(let bytes): .just(chunking.coded(.just(bytes), length: length))
                case .streamed(let body):
                    body.open(files).map { chunking.coded($0.chunks, length: length) }
                }
            })
        return request
    }
}

extension RequestSigner where Self == AWSSigner {
    /// A signer for a service of AWS.
    ///
    /// - Parameters:
    ///   - service: the name of the service in signatures, such as `s3` or `dynamodb`.
    ///   - region: the region, such as `eu-west-1`. For version 4A, the regions with commas between them, or `*`.
    ///   - credentials: the source of the keys.
    ///   - payload: how signatures cover the content. Default ``AWSPayloadSigning/automatic``.
    ///   - version: the version of the signatures. Default ``AWSSignatureVersion/v4``.
    public static func aws(
        service: String, region: String, credentials: AWSCredentials, payload: AWSPayloadSigning = .automatic,
        version: AWSSignatureVersion = .v4
    ) -> AWSSigner {
        AWSSigner(
            service: service, region: region, credentials: credentials, payload: payload, version: version)
    }
}

extension AWSSigner: RedactedDescription {
    /// Version, service and region.
    public var description: String { "\(version.algorithm) signer for \(service) in \(region)" }
}

/// How the signature of a request covers its content.
public enum AWSPayloadSigning: Sendable, Hashable {
    /// By its hash. A streamed body is signed in chunks for S3 if its length can be known, and is otherwise not covered;
    /// for other services it is read once more, before it is sent.
    case automatic
    /// By its hash. A streamed body must be replayable, and is read once more, before it is sent.
    case hashed
    /// Not at all, over https only. Not every service accepts that; S3 does.
    case unsigned
    /// In chunks, each with a signature, while it is sent. For S3. A streamed body must have a length or be replayable.
    case chunked
    /// In chunks, each with a signature, and with a signed checksum at the end. For S3.
    case chunkedWithChecksum(AWSChecksum)
    /// Not by a signature, but with a checksum at the end, over https only. For S3.
    case unsignedWithChecksum(AWSChecksum)
}

/// A SHA-256 digest of a stream.
private struct RunningDigest: Sendable {
    private var hash = SHA256()

    func adding(_ bytes: [UInt8]) -> Self {
        var digest = self
        digest.hash.update(data: bytes)
        return digest
    }

    var text: String { hash.finalize().hexadecimalText }
}
#endif
