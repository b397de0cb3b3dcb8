import FoundationEssentials
import HTTPTypes
import RxHTTP

/// tus 1.0.0 (https://tus.io/protocols/resumable-upload), with the extensions creation, creation-with-upload,
/// creation-defer-length, expiration, checksum, termination and concatenation, as far as the server offers them.
struct TusDialect: UploadDialect {
    /// Records have the name, ``ConcatenatedRun`` with an ending: with another one, uploads of older releases begin
    /// anew.
    let name = "tus-1.0.0"
    private(set) var limits = UploadLimits()
    let completesExplicitly = false

    /// The metadata of the upload.
    let metadata: [String: String]
    /// The most content of one request, if the caller sets it.
    let partSize: Int64?
    /// The algorithm of `Upload-Checksum` to use if the server offers it, or else the strongest that it offers; `nil` for no
    /// checksums.
    let checksum: TransferDigest.Algorithm?
    /// Content up to this size goes with the creation, if the server offers that.
    let creationSize: Int64

    private var extensions: Set<String>?
    private var algorithms: Set<String> = []

    static let version = "1.0.0"
    private static let contentType = "application/offset+octet-stream"

    init(
        metadata: [String: String] = [:], partSize: Int64? = nil, checksum: TransferDigest.Algorithm? = nil,
        creationSize: Int64 = 1 << 20
    ) {
        self.metadata = metadata
        self.partSize = partSize
        self.checksum = checksum
        self.creationSize = creationSize
    }

    /// The name of an algorithm in `Upload-Checksum`.
    static func name(of algorithm: TransferDigest.Algorithm) -> String? {
        switch algorithm {
        case .sha256: "sha256"
        case .sha512: "sha512"
        case .sha1: "sha1"
        case .crc32: "crc32"
        case .crc32c: "crc32c"
        case .md5: "md5"
        case .crc64nvme: nil
        }
    }

    private var digest: UploadRequest.Digest? {
        guard let checksum, offers("checksum") else { return nil }
        // Servers must support SHA-1 ("Checksum"), and need not offer another.
        return ([checksum] + TransferDigest.Algorithm.allCases)
            .first { Self.name(of: $0).map(algorithms.contains) == true }
            .map { .tus($0) }
    }

    /// Whether each request carries a checksum, so that all that the server has accepted is proven.
    var isChecked: Bool { digest != nil }

    /// Whether the server joins partial uploads.
    var offersConcatenation: Bool { offers("concatenation") }
    /// Whether the upload is one of several that are joined at the end.
    var isPartial = false
    /// Whether the server has been asked what it offers.
    var isDiscovered = false

    private func offers(_ name: String) -> Bool { extensions?.contains(name) == true }

    // MARK: - Requests

    func discovery(isPartial: Bool) -> UploadRequest? {
        guard !isDiscovered else { return nil }
        // OPTIONS has no Tus-Resumable.
        return UploadRequest(kind: .discovery, target: .endpoint, method: .options)
    }

    /// With checksums: those that the server knows are in its response to the discovery only.
    var asksAlways: Bool { checksum != nil }

    mutating func discover(_ head: ResponseHead) throws(NetworkError) {
        // A server, or what stands before it, that does not answer OPTIONS may still take uploads.
        guard head.status.kind == .successful, let versions = head[.tusVersion] ?? head[.tusResumable] else {
            return
        }
        guard Self.list(versions).contains(Self.version) else {
            var error = NetworkError(
                .invalidResponse,
                "the server speaks tus \(versions.prefix(64)), and this client \(Self.version)")
            error.head = head
            throw error
        }
        extensions = Set(Self.list(head[.tusExtension] ?? ""))
        algorithms = Set(Self.list(head[.tusChecksumAlgorithm] ?? ""))
        limits.maxSize = StructuredItem.number(head[.tusMaxSize])
    }

    /// Takes the time at which the server removes the upload ("Expiration"), which each response may move.
    mutating func learn(_ head: ResponseHead) {
        guard let expires = head[.uploadExpires].flatMap({ Date(httpDate: $0) }) else { return }
        limits.expires = expires
        limits.maxAge = head[.date].flatMap { Date(httpDate: $0) }
            .map { .seconds(expires.timeIntervalSince($0)) }
    }

    private static func list(_ text: String) -> [String] {
        let start = String(decoding: text.utf8.prefix(2048), as: UTF8.self)
        return start.parts(at: ",").map { String($0.trimmingBlanks()) }
    }

    func creationLimit(total: Int64?) -> Int64? {
        guard !isPartial, offers("creation-with-upload"), let total, total <= creationSize else { return 0 }
        return partSize
    }

    func creation(_ piece: UploadPiece, total: Int64?) -> UploadRequest {
        var request = UploadRequest(kind: .creation, target: .endpoint, method: .post, piece: piece)
        request.fields = [.tusResumable: Self.version]
        if let total {
            request.fields[.uploadLength] = "\(total)"
        } else {
            request.fields[.uploadDeferLength] = "1"
        }
        if isPartial { request.fields[.uploadConcat] = "partial" }
        // With partial uploads, too: some servers tell nothing of an upload without.
        if !metadata.isEmpty { request.fields[.uploadMetadata] = Self.encoded(metadata) }
        if piece.count > 0 {
            request.fields[.contentType] = Self.contentType
            request.digest = digest
        }
        return request
    }

    /// The request that joins partial uploads, in this order.
    func concatenation(of parts: [URL]) -> UploadRequest {
        var request = UploadRequest(kind: .completion, target: .endpoint, method: .post)
        let list = parts.map(\.absoluteString).joined(separator: " ")
        request.fields = [.tusResumable: Self.version, .uploadConcat: "final;" + list]
        if !metadata.isEmpty { request.fields[.uploadMetadata] = Self.encoded(metadata) }
        return request
    }

    /// Pairs of a key and a value in Base64.
    static func encoded(_ metadata: [String: String]) -> String {
        metadata.sorted { $0.key < $1.key }.map { key, value in
            value.isEmpty ? key : "\(key) \(Data(value.utf8).base64EncodedString())"
        }
        .joined(separator: ",")
    }

    func query(at location: URL) -> UploadRequest {
        UploadRequest(
            kind: .query, target: .url(location), method: .head, fields: [.tusResumable: Self.version])
    }

    func append(_ piece: UploadPiece, total: Int64?, at location: URL) -> UploadRequest {
        var request = UploadRequest(kind: .append, target: .url(location), method: .patch, piece: piece)
        request.fields = [
            .tusResumable: Self.version, .uploadOffset: "\(piece.offset)", .contentType: Self.contentType,
        ]
        // The length that was deferred; the same value again is harmless.
        if piece.isLast, let total, isDeferred { request.fields[.uploadLength] = "\(total)" }
        if piece.count > 0 { request.digest = digest }
        return request
    }

    /// Whether the length was unknown when the upload was created.
    var isDeferred = false

    func termination(at location: URL) -> UploadRequest? {
        guard extensions == nil || offers("termination") else { return nil }
        return UploadRequest(
            kind: .termination, target: .url(location), method: .delete, fields: [.tusResumable: Self.version]
        )
    }

    // MARK: - Responses

    func read(_ head: ResponseHead, to kind: UploadRequest.Kind, _ piece: UploadPiece) -> UploadAnswer {
        let offset = StructuredItem.number(head[.uploadOffset])
        guard head.status.kind == .successful else {
            switch head.status.code {
            case 409 where kind == .append: return .mismatch(offset: offset)
            // A checksum that does not match: the server has discarded the content.
            case 460: return .again
            // 403 for a resource that has been removed ("Head").
            case 403 where kind == .query: return .gone
            default: return common(head, to: kind)
            }
        }
        switch kind {
        case .creation:
            guard let location = head[.location] else { return .invalid("the server named no Location") }
            return .created(location: location, offset: piece.count > 0 ? offset ?? 0 : 0)
        case .query:
            guard let offset else { return .invalid("the server did not tell the offset (Upload-Offset)") }
            return .offset(offset, isComplete: false)
        default:
            guard let offset else { return .invalid("the server did not confirm the offset (Upload-Offset)") }
            return .offset(offset, isComplete: false)
        }
    }

    func reads(interim head: ResponseHead) -> Bool { false }
}
