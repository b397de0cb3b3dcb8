import FoundationEssentials
import HTTPTypes
import RxClient
import RxHTTP

/// The rules of a download in parts: which bytes are missing, which requests get them, and what responses mean. Pure.
///
/// One part grows at the end of the draft. Several are written side by side into a draft of the full length, and behind
/// that each has a mark with the offset that it has reached.
struct PartedPlan: Sendable, Equatable {
    /// A range of the file, and how much of it is on the disk.
    struct Part: Sendable, Equatable {
        var start: Int64
        /// The offset after its last byte; `nil` if the length of the file is unknown.
        var end: Int64?
        var written: Int64 = 0

        /// The offset of its first missing byte.
        var position: Int64 { start + written }
        var isComplete: Bool { end.map { position >= $0 } ?? false }
    }

    /// The meaning of the response to a request for a part.
    enum Decision: Equatable {
        /// Its body is what is missing of the part, from the position on, up to this offset.
        case accept(end: Int64)
        /// The server ignores ranges, but the object is the same.
        case unsplit
        /// The object is another one.
        case changed
        /// The response fits no request.
        case invalid
    }

    /// The validator of the file; `nil` for a file that cannot be resumed.
    private(set) var record: DownloadRecord?
    /// The length of the file, if it is known.
    let length: Int64?
    /// The digests that the whole file must have.
    private(set) var digests: [TransferDigest]
    private(set) var parts: [Part]

    /// The bytes on the disk.
    var written: Int64 { parts.reduce(0) { $0 + $1.written } }
    var isComplete: Bool { parts.allSatisfy(\.isComplete) }

    /// A file of one part, by the head of a response with the whole.
    init(of url: String, from head: ResponseHead) {
        length = head.isCoded ? nil : head.contentLength
        record = head.isCoded ? nil : DownloadRecord(of: url, from: head, length: length)
        digests = DigestFields(head).ofWhole
        parts = [Part(start: 0, end: length)]
    }

    // MARK: - The disk

    /// The plan of a record; `nil` if it is none, or that of another file. Its parts are empty.
    init?(_ bytes: [UInt8], url: String) {
        guard let record = DownloadRecord(bytes), record.url == url,
            let stored = try? JSONDecoder().decode(Stored.self, from: Data(bytes))
        else { return nil }
        self.record = record
        length = record.length
        digests = (stored.digests ?? []).compactMap(TransferDigest.init(stored:))
        let starts = [0] + (stored.starts ?? [])
        guard starts.count <= Self.mostParts, zip(starts, starts.dropFirst()).allSatisfy({ $0 < $1 }),
            starts.count == 1 || record.length.map({ $0 > starts[starts.count - 1] }) == true
        else { return nil }
        parts = starts.indices.map { index in
            Part(
                start: starts[index],
                end: index + 1 < starts.count ? starts[index + 1] : record.length)
        }
    }

    /// The size that the draft has while its parts are written; `nil` for one part, which decides it.
    var draftSize: Int64? {
        guard parts.count > 1, let length else { return nil }
        return length + DownloadRecord.markSize * Int64(parts.count)
    }

    /// Whether a draft of this size belongs to the record.
    func fits(_ size: Int64) -> Bool { draftSize.map { $0 == size } ?? (size <= length ?? .max) }

    /// The offset of a part's mark in the draft; `nil` for one part.
    func mark(of part: Int) -> Int64? {
        guard parts.count > 1, let length else { return nil }
        return length + DownloadRecord.markSize * Int64(part)
    }

    /// The marks of all parts, as bytes.
    var marks: [UInt8] { DownloadRecord.marks(parts.map(\.position)) }

    /// Takes over what the draft has.
    ///
    /// - Parameters:
    ///   - marks: the offsets in the marks.
    ///   - extents: for each part, how far the draft has content from its start on.
    mutating func restore(marks: [Int64], extents: [Int64]) {
        for index in parts.indices where marks.indices.contains(index) && extents.indices.contains(index) {
            let reached = min(marks[index], extents[index], parts[index].end ?? .max)
            parts[index].written = max(0, reached - parts[index].start)
        }
    }

    /// Takes over what the draft of one part has.
    mutating func restore(size: Int64) { parts[0].written = size }

    /// The most parts of one file.
    static let mostParts = 64

    private struct Stored: Codable {
        var url: String
        var etag: String?
        var lastModified: String?
        var length: Int64?
        var name: String?
        /// The offset of each part after the first.
        var starts: [Int64]?
        var digests: [String]?
    }

    /// The record, which a download in one part understands as well.
    func encoded() throws(NetworkError) -> [UInt8]? {
        guard let record else { return nil }
        let stored = Stored(
            url: record.url, etag: record.etag, lastModified: record.lastModified, length: record.length,
            name: record.name, starts: parts.count > 1 ? parts.dropFirst().map(\.start) : nil,
            digests: digests.isEmpty ? nil : digests.map(\.description))
        do {
            let encoder = JSONEncoder()
            encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
            return Array(try encoder.encode(stored))
        } catch {
            throw NetworkError(.file, "the download's record cannot be encoded: \(error)")
        }
    }

    // MARK: - Parts

    /// Splits what is missing of the only part into this many parts of at least `least` bytes.
    ///
    /// - Returns: the number of parts; 1 if the file is not split.
    mutating func split(into count: Int, least: Int64) -> Int {
        guard parts.count == 1, let length, record?.etag != nil else { return parts.count }
        let missing = length - parts[0].position
        let count = min(Int64(min(count, Self.mostParts)), missing / max(1, least))
        guard count > 1 else { return 1 }
        let first = parts[0].position
        let size = missing / count
        let starts = (1..<count).map { first + size * $0 }
        parts[0].end = starts[0]
        for (index, start) in starts.enumerated() {
            parts.append(Part(start: start, end: index + 1 < starts.count ? starts[index + 1] : length))
        }
        return parts.count
    }

    /// Gives the first part all that is missing behind it. What other parts have is given up, so that one response can
    /// bring the rest.
    mutating func unsplit() { parts = [Part(start: 0, end: length, written: parts[0].written)] }

    /// Makes one part of all, which are complete.
    mutating func join() { parts = [Part(start: 0, end: length, written: written)] }

    mutating func record(_ written: Int64, of part: Int) { parts[part].written = written }

    // MARK: - Requests and responses

    /// The fields of a request for what is missing of a part (RFC 9110 §13.1.5, §14.2).
    func fields(for part: Int) -> HTTPFields {
        let part = parts[part]
        var fields: HTTPFields = [.acceptEncoding: "identity"]
        fields[.range] = "bytes=\(part.position)-" + (part.end.map { "\($0 - 1)" } ?? "")
        fields[.ifRange] = record?.validator
        return fields
    }

    /// The meaning of a successful response to such a request.
    func decide(_ head: ResponseHead, for index: Int) -> Decision {
        let part = parts[index]
        switch head.status.code {
        case 206:
            guard let range = head[.contentRange].flatMap(ContentRange.init), let bytes = range.bytes,
                !head.isCoded
            else { return .invalid }
            guard record?.matches(head) == true, range.total == nil || range.total == length || length == nil
            else { return .changed }
            guard bytes.lowerBound == part.position, bytes.upperBound < part.end ?? .max,
                head.contentLength ?? Int64(bytes.count) == Int64(bytes.count)
            else { return .invalid }
            return .accept(end: bytes.upperBound + 1)
        case 200:
            let isSame =
                (record?.etag.map { head[.eTag] == $0 } ?? (head[.lastModified] == record?.lastModified))
                && (head.contentLength == nil || length == nil || head.contentLength == length)
            return isSame ? .unsplit : .changed
        default: return .invalid
        }
    }

    /// Whether a response with the whole file offers ranges.
    static func offersRanges(_ head: ResponseHead) -> Bool {
        head[.acceptRanges]?.lowercased().split(separator: ",").contains { $0.trimmingBlanks() == "bytes" }
            == true
    }
}

extension TransferDigest {
    /// Reads the ``description``.
    init?(stored text: String) {
        let words = text.split(separator: " ")
        guard words.count == 2, let algorithm = Algorithm(rawValue: String(words[0])) else { return nil }
        self.init(algorithm, hexadecimal: String(words[1]))
    }
}
