import FoundationEssentials
import HTTPTypes
import RxHTTP

/// The meaning of a response to a request of an upload, in terms that all protocols share.
enum UploadAnswer: Sendable, Equatable {
    /// The upload exists at this location, and has so many bytes.
    case created(location: String?, offset: Int64)
    /// The server has so many bytes. A complete upload takes no more.
    case offset(Int64, isComplete: Bool)
    /// The upload is complete, and this is the response of the endpoint.
    case complete
    /// The request was for another offset; `nil` if the server does not say which it has.
    case mismatch(offset: Int64?)
    /// The content of the request was too large, or the whole.
    case tooLarge
    /// The upload does not exist any more.
    case gone
    /// Asking for the offset and sending again may help.
    case again
    /// Nothing helps.
    case refused
    /// The response does not follow the protocol.
    case invalid(String)
}

/// The protocol of an upload whose content is appended in order: the requests that it sends, and the meaning of responses.
///
/// Pure: an ``UploadMachine`` decides when to send what.
protocol UploadDialect: Sendable {
    /// The name in records.
    var name: String { get }
    /// The limits that the server has announced.
    var limits: UploadLimits { get }
    /// Whether a request of its own says that the content is complete.
    var completesExplicitly: Bool { get }

    /// The request that asks what the server supports, before the upload is created; `nil` if there is nothing to ask.
    func discovery(isPartial: Bool) -> UploadRequest?
    /// Whether the server is asked also before an upload of an earlier run goes on.
    var asksAlways: Bool { get }
    /// Takes what the server supports from a response, or a refusal, to the discovery.
    ///
    /// - Throws: if the upload must not be created.
    mutating func discover(_ head: ResponseHead) throws(NetworkError)
    /// Takes the limits from a response.
    mutating func learn(_ head: ResponseHead)

    /// The most content to send with the request that creates the upload; `nil` for all.
    func creationLimit(total: Int64?) -> Int64?
    func creation(_ piece: UploadPiece, total: Int64?) -> UploadRequest
    func query(at location: URL) -> UploadRequest
    func append(_ piece: UploadPiece, total: Int64?, at location: URL) -> UploadRequest
    func termination(at location: URL) -> UploadRequest?

    /// The meaning of a response, of any status, to a request with this content.
    func read(_ head: ResponseHead, to kind: UploadRequest.Kind, _ piece: UploadPiece) -> UploadAnswer
    /// Whether an informational response belongs to the protocol.
    func reads(interim head: ResponseHead) -> Bool
}

extension UploadDialect {
    var asksAlways: Bool { false }

    /// The meaning of a status that all protocols share.
    func common(_ head: ResponseHead, to kind: UploadRequest.Kind) -> UploadAnswer {
        switch head.status.code {
        case 413: .tooLarge
        case 404, 410: kind == .creation ? .refused : .gone
        case 408, 423, 425, 429: .again
        case 501, 505: .refused
        case 500...599: .again
        default: .refused
        }
    }
}

extension String {
    /// The message for an upload that is complete without all of the content. By it ``UploadMachine`` recognizes the
    /// answers after which the record is removed.
    static let closedEarly = "the server calls the upload complete, and does not have all of the content"
}

extension HTTPField.Name {
    static let uploadOffset = HTTPField.Name("Upload-Offset")!
    static let uploadLength = HTTPField.Name("Upload-Length")!
    static let uploadComplete = HTTPField.Name("Upload-Complete")!
    static let uploadLimit = HTTPField.Name("Upload-Limit")!
    static let uploadExpires = HTTPField.Name("Upload-Expires")!
    static let uploadConcat = HTTPField.Name("Upload-Concat")!
    static let uploadChecksum = HTTPField.Name("Upload-Checksum")!
    static let uploadMetadata = HTTPField.Name("Upload-Metadata")!
    static let uploadDeferLength = HTTPField.Name("Upload-Defer-Length")!
    static let uploadInteropVersion = HTTPField.Name("Upload-Draft-Interop-Version")!
    static let tusResumable = HTTPField.Name("Tus-Resumable")!
    static let tusVersion = HTTPField.Name("Tus-Version")!
    static let tusExtension = HTTPField.Name("Tus-Extension")!
    static let tusMaxSize = HTTPField.Name("Tus-Max-Size")!
    static let tusChecksumAlgorithm = HTTPField.Name("Tus-Checksum-Algorithm")!
}
