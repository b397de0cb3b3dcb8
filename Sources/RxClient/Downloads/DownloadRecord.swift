import FoundationEssentials
import HTTPTypes
import RxHTTP

/// The metadata of a partial file, stored as JSON beside it.
struct DownloadRecord: Codable, Equatable, Sendable {
    /// The URL of the file, without the parameters of a signature.
    let url: String
    /// The strong entity tag, if there is one.
    let etag: String?
    /// The `Last-Modified` date, if there is no entity tag and the date is a strong validator.
    let lastModified: String?
    /// The length of the whole file, if known.
    let length: Int64?

    /// The name of the file, in a folder.
    let name: String?

    /// The maximum size of a record, in bytes.
    static let sizeLimit = 64 << 10

    /// The record of a response, if a validator distinguishes the versions of its content.
    ///
    /// A weak entity tag is not sufficient, and rules out the date (RFC 9110 §13.1.5). A date is sufficient
    /// only if the response is at least a second younger (§8.8.2.2).
    init?(of url: String, from head: ResponseHead, length: Int64?, name: String? = nil) {
        self.url = url
        self.name = name
        self.length = length
        if let tag = head[.eTag] {
            guard Self.isStrongTag(tag) else { return nil }
            (etag, lastModified) = (tag, nil)
        } else {
            guard let modified = head[.lastModified], let then = Date(httpDate: modified),
                let now = head[.date].flatMap({ Date(httpDate: $0) }), now.timeIntervalSince(then) >= 1
            else { return nil }
            (etag, lastModified) = (nil, modified)
        }
    }

    /// The record in `bytes`; `nil` if they are not a valid record.
    init?(_ bytes: [UInt8]) {
        guard bytes.count <= Self.sizeLimit,
            // Any error means that there is nothing to resume.
            let record = try? JSONDecoder().decode(Self.self, from: Data(bytes)),
            record.length ?? 0 >= 0
        else { return nil }
        switch (record.etag, record.lastModified) {
        case (let tag?, nil): guard Self.isStrongTag(tag) else { return nil }
        case (nil, let date?): guard Date(httpDate: date) != nil else { return nil }
        default: return nil
        }
        self = record
    }

    func encoded() throws(NetworkError) -> [UInt8] {
        do {
            let encoder = JSONEncoder()
            encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
            return Array(try encoder.encode(self))
        } catch {
            throw NetworkError(.file, "the download's record cannot be encoded: \(error)")
        }
    }

    /// The value of `If-Range`.
    var validator: String? { etag ?? lastModified }

    /// Whether a response is for the same version, as far as its validators show.
    func matches(_ head: ResponseHead) -> Bool {
        if let etag { return head[.eTag].map { $0 == etag } ?? true }
        return head[.lastModified].map { $0 == lastModified } ?? true
    }

    /// Whether a tag is `"` etagc* `"` (RFC 9110 §8.8.3), in ASCII.
    private static func isStrongTag(_ tag: String) -> Bool {
        let bytes = Array(tag.utf8)
        return bytes.count >= 2 && bytes.first == UInt8(ascii: "\"") && bytes.last == UInt8(ascii: "\"")
            && bytes.dropFirst().dropLast().allSatisfy { $0 == 0x21 || (0x23...0x7E).contains($0) }
    }
}
