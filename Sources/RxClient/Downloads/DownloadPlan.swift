import FoundationEssentials
import HTTPTypes
package import RxHTTP

/// The rules of one attempt at a download: the request to send, and the meaning of the response.
struct DownloadPlan: Equatable, Sendable {
    /// The first `offset` bytes of the version in `record` are already on the disk.
    struct Start: Equatable, Sendable {
        var record: DownloadRecord
        var offset: Int64
    }

    /// The start of the missing part; `nil` for a new download.
    let start: Start?

    /// - Parameters:
    ///   - url: the current URL of the download.
    ///   - record: the record beside the partial file, if it is readable.
    ///   - size: the size of the partial file.
    init(url: String, record: DownloadRecord?, size: Int64) {
        if let record, record.url == url, size > 0, size <= record.length ?? .max {
            start = Start(record: record, offset: size)
        } else {
            start = nil
        }
    }

    /// A new download, regardless of any partial file.
    static let fromTheStart = DownloadPlan(url: "", record: nil, size: 0)

    /// Requests only the missing part, and only of the same version (RFC 9110 §13.1.5, §14.2).
    func prepare(_ request: inout Request) {
        request.headerFields[.acceptEncoding] = "identity"
        request.headerFields[.range] = start.map { "bytes=\($0.offset)-" }
        request.headerFields[.ifRange] = start?.record.validator
    }

    /// The action for a response.
    enum Decision: Equatable {
        /// Append the body to the partial file, up to `end`; the whole file has `total` bytes.
        case append(at: Int64, end: Int64, total: Int64)
        /// The body is the whole file, with `total` bytes if known.
        case begin(total: Int64?)
        /// The partial file is already complete.
        case complete(total: Int64)
        /// The partial file is useless: request the whole file.
        case startOver
        /// Fail: the response is a part that was not requested.
        case refuse
        /// Fail: the response has no content for a file.
        case nothing
    }

    func decide(_ head: ResponseHead) -> Decision {
        switch head.status.code {
        case 206: start.map { decide(head, partOf: $0) } ?? .refuse
        case 416: start.map { decide(head, beyond: $0) } ?? .refuse
        case 204, 205: .nothing
        // A success: other statuses do not get here, see ``Download/Send``.
        default: .begin(total: head.isCoded ? nil : head.contentLength)
        }
    }

    private func decide(_ head: ResponseHead, partOf start: Start) -> Decision {
        guard let range = head[.contentRange].flatMap(ContentRange.init), let bytes = range.bytes,
            let total = range.total, bytes.lowerBound == start.offset, !head.isCoded,
            start.record.matches(head), start.record.length ?? total == total,
            head.contentLength ?? Int64(bytes.count) == Int64(bytes.count)
        else { return .startOver }
        return .append(at: start.offset, end: bytes.upperBound + 1, total: total)
    }

    private func decide(_ head: ResponseHead, beyond start: Start) -> Decision {
        guard let range = head[.contentRange].flatMap(ContentRange.init), range.bytes == nil,
            range.total == start.offset, start.record.matches(head),
            start.record.length ?? start.offset == start.offset
        else { return .startOver }
        return .complete(total: start.offset)
    }
}

// MARK: - The record of a partial file

/// The metadata of a partial file, stored as JSON beside it, under the names of the properties. Downloads in parts
/// write the same members and more (`PartedPlan`), and each kind of download continues the other's file; change both.
package struct DownloadRecord: Codable, Equatable, Sendable {
    /// The URL of the file, without the parameters of a signature.
    package let url: String
    /// The strong entity tag, if there is one.
    package let etag: String?
    /// The `Last-Modified` date, if there is no entity tag and the date is a strong validator.
    package let lastModified: String?
    /// The length of the whole file, if known.
    package let length: Int64?

    /// The name of the file, in a folder.
    package let name: String?

    /// The offset of each part after the first, if `PartedPlan` writes the parts side by side. Behind the content the
    /// partial file then has a mark for each part, 8 bytes, the least significant one first: the offset that what was
    /// written from the part's start on has reached, perhaps beyond the starts of others.
    package var starts: [Int64]?

    /// The maximum size of a record, in bytes. The starts of a `PartedPlan`, 1,023 at most, need about 20 KiB.
    package static let sizeLimit = 64 << 10

    /// The record of a response, if a validator distinguishes the versions of its content.
    ///
    /// A weak entity tag is not sufficient, and rules out the date (RFC 9110 §13.1.5). A date is sufficient
    /// only if the response is at least a second younger (§8.8.2.2).
    package init?(of url: String, from head: ResponseHead, length: Int64?, name: String? = nil) {
        self.url = url
        self.name = name
        self.length = length
        starts = nil
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
    package init?(_ bytes: [UInt8]) {
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

    // Marks are on disks: in another form, partial files of earlier versions would be misread.

    /// The size of a mark, in bytes.
    package static let markSize: Int64 = 8

    /// The offsets in marks.
    package static func offsets(in bytes: [UInt8]) -> [Int64] {
        let size = Int(markSize)
        return stride(from: 0, through: bytes.count - size, by: size).map { start in
            let number = bytes[start..<(start + size)].reversed().reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
            return Int64(clamping: number)
        }
    }

    /// The marks with these offsets.
    package static func marks(_ offsets: [Int64]) -> [UInt8] {
        offsets.flatMap { offset in (0..<markSize).map { UInt8(truncatingIfNeeded: offset >> (8 * $0)) } }
    }

    /// The record of a download in one part.
    var withoutParts: DownloadRecord {
        var record = self
        record.starts = nil
        return record
    }

    /// The value of `If-Range`.
    package var validator: String? { etag ?? lastModified }

    /// Whether a response is for the same version, as far as its validators show.
    package func matches(_ head: ResponseHead) -> Bool {
        if let etag { return head[.eTag].map { $0.utf8.elementsEqual(etag.utf8) } ?? true }
        guard let field = head[.lastModified] else { return true }
        return lastModified.map { field.utf8.elementsEqual($0.utf8) } ?? false
    }

    /// Whether a tag is `"` etagc* `"` (RFC 9110 §8.8.3), in ASCII.
    private static func isStrongTag(_ tag: String) -> Bool {
        let bytes = Array(tag.utf8)
        return bytes.count >= 2 && bytes.first == UInt8(ascii: "\"") && bytes.last == UInt8(ascii: "\"")
            && bytes.dropFirst().dropLast().allSatisfy { $0 == 0x21 || (0x23...0x7E).contains($0) }
    }
}

/// The value of a `Content-Range` field (RFC 9110 §14.4): `bytes 10-19/100`, `bytes 10-19/*`, `bytes */100`.
package struct ContentRange: Equatable {
    /// The range of bytes in the response; `nil` if the range is unsatisfiable.
    package let bytes: ClosedRange<Int64>?
    /// The total number of bytes; `nil` if the server does not know it.
    package let total: Int64?

    /// Returns `nil` for an invalid or contradictory value.
    package init?(_ text: String) {
        guard text.allBytes({ $0 < 0x80 }) else { return nil }
        let words = text.split(separator: " ", omittingEmptySubsequences: false)
        guard words.count == 2, words[0].lowercased() == "bytes" else { return nil }
        let parts = words[1].split(separator: "/", omittingEmptySubsequences: false)
        guard parts.count == 2 else { return nil }
        if parts[1] == "*" {
            total = nil
        } else {
            guard let number = Self.number(parts[1]) else { return nil }
            total = number
        }
        if parts[0] == "*" {
            guard total != nil else { return nil }
            bytes = nil
        } else {
            let ends = parts[0].split(separator: "-", omittingEmptySubsequences: false)
            guard ends.count == 2, let first = Self.number(ends[0]), let last = Self.number(ends[1]),
                first <= last, last < total ?? .max
            else { return nil }
            bytes = first...last
        }
    }

    private static func number(_ text: Substring) -> Int64? {
        guard !text.isEmpty, text.utf8.allSatisfy({ (0x30...0x39).contains($0) }) else { return nil }
        return Int64(text)
    }
}
