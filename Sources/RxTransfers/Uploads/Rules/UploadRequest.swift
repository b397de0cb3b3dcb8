import FoundationEssentials
import HTTPTypes
import RawStructuredFieldValues
import RxHTTP

/// A part of the content of an upload.
struct UploadPiece: Sendable, Equatable {
    /// The offset of its first byte.
    var offset: Int64
    /// The number of its bytes.
    var count: Int64
    /// Whether the content ends with it.
    var isLast: Bool

    /// The offset after its last byte.
    var end: Int64 { offset + count }

    /// No content, and more to follow.
    static let none = UploadPiece(offset: 0, count: 0, isLast: false)
}

/// A request of an upload, as the rules decide it; its content is read when it is sent.
struct UploadRequest: Sendable, Equatable {
    /// The purpose of a request.
    enum Kind: Sendable, Hashable {
        /// Asks what the server supports.
        case discovery
        /// Creates the upload.
        case creation
        /// Asks for the offset, or for the parts.
        case query
        /// Appends content.
        case append
        /// Sends the part with this number, from 1.
        case part(Int)
        /// Joins the parts.
        case completion
        /// Ends the upload without a result.
        case termination
    }

    /// The URL that a request goes to.
    enum Target: Sendable, Equatable {
        /// The endpoint's own URL.
        case endpoint
        /// The URL that the server has named.
        case url(URL)
    }

    /// The digest of its content that a request carries.
    enum Digest: Sendable, Equatable {
        /// `Content-Digest` (RFC 9530).
        case content(TransferDigest.Algorithm)
        /// `Upload-Checksum` of tus.
        case tus(TransferDigest.Algorithm)
        /// `x-amz-checksum-…` of S3.
        case checksum(TransferDigest.Algorithm)

        var algorithm: TransferDigest.Algorithm {
            switch self {
            case .content(let algorithm), .tus(let algorithm), .checksum(let algorithm): algorithm
            }
        }

        /// The field with the digest.
        func field(_ digest: TransferDigest) -> (HTTPField.Name, String)? {
            switch self {
            case .content: (.contentDigest, digest.fieldValue)
            case .tus: TusDialect.name(of: algorithm).map { (.uploadChecksum, "\($0) \(digest.base64)") }
            case .checksum: TransferDigest.checksumField(algorithm).map { ($0, digest.base64) }
            }
        }
    }

    var kind: Kind
    var target: Target
    /// The method; `nil` for the endpoint's.
    var method: HTTPRequest.Method?
    var fields: HTTPFields = [:]
    /// Parameters of the query, in addition to those of the target; an empty value is sent without `=`.
    var query: [String: String] = [:]
    /// The content to send.
    var piece: UploadPiece?
    var digest: Digest?
    /// A small body that is no content of the upload.
    var body: [UInt8] = []
}

/// The limits of a server for one upload.
struct UploadLimits: Sendable, Equatable {
    var maxSize: Int64?
    var minSize: Int64?
    var maxAppend: Int64?
    var minAppend: Int64?
    /// The time for which the upload stays, from now.
    var maxAge: Duration?
    /// The time at which the upload goes, by the server's clock; used if ``maxAge`` is not known.
    var expires: Date?

    /// These limits, with `newer` ones where they are known.
    func updated(by newer: UploadLimits) -> UploadLimits {
        UploadLimits(
            maxSize: newer.maxSize ?? maxSize, minSize: newer.minSize ?? minSize,
            maxAppend: newer.maxAppend ?? maxAppend, minAppend: newer.minAppend ?? minAppend,
            maxAge: newer.maxAge ?? maxAge, expires: newer.expires ?? expires)
    }
}

/// Structured fields (RFC 9651) of the kinds that uploads use. A malformed field is as good as none.
enum StructuredItem {
    /// The most bytes of a field to parse: the time to parse grows with the square of its members.
    private static let limit = 2048

    private static func item(_ text: String?) -> RFC9651BareItem? {
        guard let text, text.utf8.count <= limit else { return nil }
        var parser = StructuredFieldValueParser(Array(text.utf8))
        return (try? parser.parseItemFieldValue())?.rfc9651BareItem
    }

    /// A number that is not negative.
    static func number(_ text: String?) -> Int64? {
        guard case .integer(let number) = item(text), number >= 0 else { return nil }
        return number
    }

    static func boolean(_ text: String?) -> Bool? {
        if case .bool(let value) = item(text) { value } else { nil }
    }

    /// The numbers of a dictionary by `names`; `nil` if the field is malformed or a member with such a name is no number.
    static func numbers(_ text: String?, _ names: [String]) -> [String: Int64]? {
        guard let text, text.utf8.count <= limit else { return nil }
        var parser = StructuredFieldValueParser(Array(text.utf8))
        guard let members = try? parser.parseDictionaryFieldValue() else { return nil }
        var numbers: [String: Int64] = [:]
        for name in names {
            guard let member = members[name] else { continue }
            guard case .item(let item) = member, case .integer(let number) = item.rfc9651BareItem, number >= 0
            else { return nil }
            numbers[name] = number
        }
        return numbers
    }
}
