import FoundationEssentials
import HTTPTypes
import RxHTTP

/// Resumable uploads by draft-ietf-httpbis-resumable-upload, interop version 8.
struct DraftDialect: UploadDialect {
    /// Records have the name: with another one, uploads of older releases begin anew.
    let name = "draft-8"
    private(set) var limits = UploadLimits()
    let completesExplicitly = true

    /// Whether the upload is created without content ("Careful Upload Creation").
    let isCareful: Bool
    /// Whether the server is known to support such uploads, so that it is not asked.
    let isKnown: Bool
    /// The algorithm of `Content-Digest` for each request, if any.
    let partDigest: TransferDigest.Algorithm?
    /// The digest of the whole content, if it is known beforehand.
    var whole: TransferDigest?
    /// The most content of one request, if the caller sets it.
    let partSize: Int64?

    static let version = "8"
    /// The members of `Upload-Limit` that ``learn(_:)`` reads.
    private static let limitNames = ["max-size", "min-size", "max-append-size", "min-append-size", "max-age"]

    init(
        isCareful: Bool = false, isKnown: Bool = false, partDigest: TransferDigest.Algorithm? = nil,
        partSize: Int64? = nil
    ) {
        self.isCareful = isCareful
        self.isKnown = isKnown
        self.partDigest = partDigest
        self.partSize = partSize
    }

    // MARK: - Requests

    func discovery(isPartial: Bool) -> UploadRequest? {
        // A server that knows nothing of resumable uploads would take a part for the whole.
        guard (isPartial || isCareful) && !isKnown else { return nil }
        return UploadRequest(kind: .discovery, target: .endpoint, method: .options)
    }

    mutating func discover(_ head: ResponseHead) throws(NetworkError) {
        guard head.status.kind == .successful, head[.uploadLimit] != nil else {
            var error = NetworkError(
                .invalidResponse,
                "the server does not announce resumable uploads (Upload-Limit), so that content cannot be sent in "
                    + "parts")
            error.head = head
            throw error
        }
        learn(head)
    }

    mutating func learn(_ head: ResponseHead) {
        guard let numbers = StructuredItem.numbers(head[.uploadLimit], Self.limitNames) else { return }
        let age = numbers["max-age"]
        let date = head[.date].flatMap { Date(httpDate: $0) }
        limits = limits.updated(
            by: UploadLimits(
                maxSize: numbers["max-size"], minSize: numbers["min-size"],
                maxAppend: numbers["max-append-size"], minAppend: numbers["min-append-size"],
                maxAge: age.map { .seconds($0) },
                expires: age.flatMap { age in date.map { $0.addingTimeInterval(Double(age)) } }))
    }

    func creationLimit(total: Int64?) -> Int64? { isCareful ? 0 : partSize }

    func creation(_ piece: UploadPiece, total: Int64?) -> UploadRequest {
        var request = UploadRequest(kind: .creation, target: .endpoint, piece: piece)
        request.fields = [
            .uploadInteropVersion: Self.version, .uploadComplete: piece.isLast ? "?1" : "?0",
            // As in ``DigestFields/wanted``.
            .wantReprDigest: "sha-256=10, sha-512=5",
        ]
        if let total { request.fields[.uploadLength] = "\(total)" }
        if let whole { request.fields[.reprDigest] = whole.fieldValue }
        if piece.count > 0 { request.digest = partDigest.map { .content($0) } }
        return request
    }

    func query(at location: URL) -> UploadRequest {
        UploadRequest(
            kind: .query, target: .url(location), method: .head,
            fields: [.uploadInteropVersion: Self.version])
    }

    func append(_ piece: UploadPiece, total: Int64?, at location: URL) -> UploadRequest {
        var request = UploadRequest(kind: .append, target: .url(location), method: .patch, piece: piece)
        request.fields = [
            .uploadInteropVersion: Self.version, .uploadComplete: piece.isLast ? "?1" : "?0",
            .uploadOffset: "\(piece.offset)", .contentType: "application/partial-upload",
        ]
        if let total, !piece.isLast { request.fields[.uploadLength] = "\(total)" }
        if piece.count > 0 { request.digest = partDigest.map { .content($0) } }
        return request
    }

    func termination(at location: URL) -> UploadRequest? {
        UploadRequest(
            kind: .termination, target: .url(location), method: .delete,
            fields: [.uploadInteropVersion: Self.version])
    }

    // MARK: - Responses

    func read(_ head: ResponseHead, to kind: UploadRequest.Kind, _ piece: UploadPiece) -> UploadAnswer {
        let offset = StructuredItem.number(head[.uploadOffset])
        let isComplete = StructuredItem.boolean(head[.uploadComplete])
        if kind == .query {
            guard head.status.kind == .successful else { return common(head, to: kind) }
            guard let offset else { return .invalid("the server did not tell the offset (Upload-Offset)") }
            return .offset(offset, isComplete: isComplete == true)
        }
        // Whatever its status, it comes from the endpoint, and nothing more can be appended.
        if isComplete == true {
            guard head.status.kind == .successful else { return .refused }
            return piece.isLast && offset ?? piece.end == piece.end ? .complete : .invalid(.closedEarly)
        }
        guard head.status.kind == .successful else {
            if head.status.code == 409, kind == .append { return .mismatch(offset: offset) }
            return common(head, to: kind)
        }
        guard kind == .creation else { return .offset(offset ?? piece.end, isComplete: false) }
        if isComplete == nil, piece.isLast { return .complete }
        return .created(location: head[.location], offset: offset ?? piece.end)
    }

    /// A 104 of another version, or of none, is ignored ("Draft Version Identification").
    func reads(interim head: ResponseHead) -> Bool {
        head.status.code == 104
            && StructuredItem.number(head[.uploadInteropVersion]).map(String.init) == Self.version
    }
}
