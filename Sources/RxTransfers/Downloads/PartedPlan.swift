import FoundationEssentials
import HTTPTypes
import RxClient
import RxHTTP

/// The rules of a download in parts: which bytes are missing, which requests get them, and what responses mean. Pure.
///
/// A file of one slot grows at the end of the draft. Otherwise the draft has the full length, and is divided into slots.
/// A part begins at a slot and ends where the next part begins; so a part is split at a slot without a change of the
/// record. Behind the content each slot has a mark with the offset that the part from there has reached.
struct PartedPlan: Sendable, Equatable {
    /// A range of the file that one request at a time fills, and how much of it is on the disk.
    struct Part: Sendable, Equatable {
        /// The index of the slot at which it begins.
        let slot: Int
        let start: Int64
        /// The offset after its last byte; `nil` if the length of the file is unknown.
        var end: Int64?
        var written: Int64 = 0
        /// The bytes that have arrived, written or not.
        var received: Int64 = 0
        /// The end of the running request's range, which stays when a split moves ``end``.
        var requested: Int64?

        /// The offset of its first missing byte.
        var position: Int64 { start + written }
        var isComplete: Bool { end.map { position >= $0 } ?? false }
        /// The number of bytes that have not arrived.
        var left: Int64 { end.map { max(0, $0 - start - received) } ?? .max }
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
    /// The offsets of the slots, from 0.
    private(set) var slots: [Int64]
    /// The parts in their order, which together are the file.
    private(set) var parts: [Part]
    /// Whether all of the content was on the disk when the record was written, so that a longer draft has marks behind it.
    private var isJoined = false

    /// The bytes on the disk.
    var written: Int64 { parts.reduce(0) { $0 + $1.written } }
    var isComplete: Bool { parts.allSatisfy(\.isComplete) }

    /// A file of one part, by the head of a response with the whole.
    init(of url: String, from head: ResponseHead) {
        length = head.isCoded ? nil : head.contentLength
        record = head.isCoded ? nil : DownloadRecord(of: url, from: head, length: length)
        digests = DigestFields(head).ofWhole
        slots = [0]
        parts = [Part(slot: 0, start: 0, end: length)]
    }

    /// The part at a slot.
    func part(at slot: Int) -> Part? { parts.first { $0.slot == slot } }

    private mutating func change(_ slot: Int, _ change: (inout Part) -> Void) {
        guard let index = parts.firstIndex(where: { $0.slot == slot }) else { return }
        change(&parts[index])
    }

    // MARK: - The disk

    /// The plan of a record; `nil` if it is none, or that of another file. Nothing of it is written yet.
    init?(_ bytes: [UInt8], url: String) {
        guard let record = DownloadRecord(bytes), record.url == url, record.length ?? 0 <= Self.maxLength,
            let stored = try? JSONDecoder().decode(Stored.self, from: Data(bytes))
        else { return nil }
        self.record = record
        length = record.length
        digests = (stored.digests ?? []).compactMap(TransferDigest.init(stored:))
        let starts = [0] + (stored.starts ?? [])
        guard starts.count <= Self.maxSlotCount, zip(starts, starts.dropFirst()).allSatisfy({ $0 < $1 }),
            starts.count == 1 || record.length.map({ $0 > starts[starts.count - 1] }) == true
        else { return nil }
        slots = starts
        parts = [Part(slot: 0, start: 0, end: record.length)]
        isJoined = stored.isJoined == true && starts.count == 1
    }

    /// The size that the draft has while its parts are written; `nil` for one slot, where the content decides it.
    var draftSize: Int64? {
        guard slots.count > 1, let length else { return nil }
        return length + DownloadRecord.markSize * Int64(slots.count)
    }

    /// Whether a draft of this size belongs to the record. One for several slots that is shorter than the file has only the
    /// beginning of it: the record comes before the marks, and the draft is cut off before the record of one slot comes.
    func fits(_ size: Int64) -> Bool {
        guard let length else { return true }
        if let draftSize { return size == draftSize || size < length }
        return size <= (isJoined ? length + DownloadRecord.markSize * Int64(Self.maxSlotCount) : length)
    }

    /// The offset of a slot's mark in the draft; `nil` if there is one slot.
    func mark(of slot: Int) -> Int64? {
        guard slots.count > 1, let length else { return nil }
        return length + DownloadRecord.markSize * Int64(slot)
    }

    /// The marks of all slots, as bytes.
    var marks: [UInt8] {
        var offsets = slots
        for part in parts { offsets[part.slot] = part.position }
        return DownloadRecord.marks(offsets)
    }

    /// The slots whose marks say that something is written from there on.
    func begun(by marks: [Int64]) -> [Int] {
        slots.indices.filter { marks.indices.contains($0) && marks[$0] > slots[$0] }
    }

    /// Takes over what the draft has: each slot with content begins a part, unless an earlier part has reached it.
    ///
    /// - Parameters:
    ///   - marks: the offsets in the marks.
    ///   - extents: for some slots, how far the draft has content from there on. Others have none.
    mutating func restore(marks: [Int64], extents: [Int: Int64]) {
        parts = []
        for slot in slots.indices {
            let start = slots[slot]
            let mark = marks.indices.contains(slot) ? marks[slot] : 0
            let reached = max(start, min(mark, extents[slot] ?? 0, length ?? .max))
            if let before = parts.indices.last, parts[before].position >= start || reached == start {
                // A part may have gone on beyond the start of this slot.
                parts[before].written =
                    max(parts[before].position, parts[before].position >= start ? reached : 0)
                    - parts[before].start
            } else {
                if let before = parts.indices.last { parts[before].end = start }
                parts.append(
                    Part(slot: slot, start: start, end: length, written: reached - start))
            }
        }
        for index in parts.indices { parts[index].received = parts[index].written }
    }

    /// Takes over the beginning of the file, as one part.
    mutating func restore(size: Int64) {
        slots = [0]
        parts = [Part(slot: 0, start: 0, end: length, written: size, received: size)]
        isJoined = false
    }

    /// The most bytes of a file, so that its marks have offsets, too.
    static let maxLength = Int64.max / 2
    /// The most parts at a time, as ``PartedDownload/Parts/count(_:)`` says.
    static let maxPartCount = 64
    /// The most slots for each part, so that what one part leaves over is split again.
    private static let slotsPerPart: Int64 = 16
    /// The most slots. Records with more are ignored, so a lower number loses those of older releases; with many more,
    /// a record would exceed ``DownloadRecord/sizeLimit``.
    private static let maxSlotCount = maxPartCount * Int(slotsPerPart)
    /// The least size of a slot, unless fewer slots than parts would remain.
    static let minSlotSize: Int64 = 1 << 20

    /// The members of ``DownloadRecord``, by the same names, and two that only this plan reads.
    private struct Stored: Codable {
        var url: String
        var etag: String?
        var lastModified: String?
        var length: Int64?
        var name: String?
        /// The offset of each slot after the first.
        var starts: [Int64]?
        var digests: [String]?
        var isJoined: Bool?
    }

    /// The record. A download in one part reads it as its own: it keeps the first part, by its mark, and cuts off the rest.
    func encoded() throws(NetworkError) -> [UInt8]? {
        guard let record else { return nil }
        let stored = Stored(
            url: record.url, etag: record.etag, lastModified: record.lastModified, length: record.length,
            name: record.name, starts: slots.count > 1 ? Array(slots.dropFirst()) : nil,
            digests: digests.isEmpty ? nil : digests.map(\.description), isJoined: isJoined ? true : nil)
        do {
            let encoder = JSONEncoder()
            encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
            return Array(try encoder.encode(stored))
        } catch {
            throw NetworkError(.file, "the download's record cannot be encoded: \(error)")
        }
    }

    // MARK: - Parts

    /// Divides what is missing of the only part into slots for up to `count` parts of at least `minPartSize` bytes, if the
    /// file has a strong entity tag and a length.
    mutating func divide(for count: Int, minPartSize: Int64) {
        guard slots.count == 1, parts.count == 1, let length, record?.etag != nil else { return }
        let (first, missing) = (parts[0].position, length - parts[0].position)
        let count = min(Int64(min(count, Self.maxPartCount)), missing / max(1, minPartSize))
        guard count > 1 else { return }
        // The slots of each part are equal in number, so that the parts are equal in size.
        let each = max(1, min(Self.slotsPerPart, missing / count / Self.minSlotSize))
        slots = [0] + (1..<(count * each)).map { first + missing / (count * each) * $0 }
    }

    /// Splits the only part, of which nothing is being requested, into this many parts, at most one for each slot.
    mutating func spread(over count: Int) {
        guard parts.count == 1, count > 1 else { return }
        let count = min(count, slots.count)
        for index in stride(from: count - 1, to: 0, by: -1) {
            let slot = index * slots.count / count
            guard slots[slot] > parts[0].start + parts[0].received else { continue }
            parts.insert(Part(slot: slot, start: slots[slot], end: parts[0].end), at: 1)
            parts[0].end = slots[slot]
        }
    }

    /// Splits the part of which most is missing near its middle.
    ///
    /// - Parameter minPartSize: the least number of bytes that the part keeps, besides that it gives away as many.
    /// - Returns: the slot of the new part; `nil` if no part has so much left.
    mutating func split(minPartSize: Int64) -> Int? {
        guard let index = parts.indices.max(by: { parts[$0].left < parts[$1].left }) else { return nil }
        let part = parts[index]
        guard let end = part.end, part.left > 0 else { return nil }
        let arrived = part.start + part.received
        let middle = arrived + part.left / 2
        let candidates = slots.indices.filter {
            slots[$0] >= arrived + max(1, minPartSize) && slots[$0] <= end - max(1, minPartSize)
        }
        guard let slot = candidates.min(by: { abs(slots[$0] - middle) < abs(slots[$1] - middle) }) else {
            return nil
        }
        parts[index].end = slots[slot]
        parts.insert(Part(slot: slot, start: slots[slot], end: end), at: index + 1)
        return slot
    }

    /// Gives the first part all that is missing behind it. What other parts have is given up, so that one response can
    /// bring the rest.
    mutating func unsplit() { restore(size: parts[0].written) }

    /// Makes one part of all, which are complete.
    mutating func join() {
        restore(size: written)
        isJoined = true
    }

    /// Records how far a part is written.
    mutating func record(_ written: Int64, of slot: Int) {
        change(slot) { $0.written = $0.end.map { [start = $0.start] in min(written, $0 - start) } ?? written }
    }

    /// Takes bytes that have arrived for a part.
    ///
    /// - Returns: the number of them that belong to it, before its end, which another part may have moved.
    mutating func receive(_ count: Int, of slot: Int) -> Int {
        guard let part = part(at: slot) else { return 0 }
        let taken = Int(min(Int64(count), part.left))
        change(slot) { $0.received += Int64(taken) }
        return taken
    }

    // MARK: - Requests and responses

    /// Begins a request for what is missing of a part (RFC 9110 §13.1.5, §14.2).
    ///
    /// - Returns: its fields.
    mutating func request(_ slot: Int) -> HTTPFields {
        change(slot) { part in
            part.received = part.written
            part.requested = part.end
        }
        var fields: HTTPFields = [.acceptEncoding: "identity"]
        guard let part = part(at: slot) else { return fields }
        fields[.range] = "bytes=\(part.position)-" + (part.end.map { "\($0 - 1)" } ?? "")
        fields[.ifRange] = record?.validator
        return fields
    }

    /// The meaning of a successful response to such a request.
    func decide(_ head: ResponseHead, for slot: Int) -> Decision {
        guard let part = part(at: slot) else { return .invalid }
        switch head.status.code {
        case 206:
            guard let range = head[.contentRange].flatMap(ContentRange.init), let bytes = range.bytes,
                !head.isCoded
            else { return .invalid }
            guard record?.matches(head) == true, range.total == nil || range.total == length || length == nil
            else { return .changed }
            guard bytes.lowerBound == part.position, bytes.upperBound < part.requested ?? .max,
                head.contentLength ?? Int64(bytes.count) == Int64(bytes.count)
            else { return .invalid }
            return .accept(end: bytes.upperBound + 1)
        case 200:
            let isSame =
                (record?.etag.map { Self.areSame(head[.eTag], $0) }
                    ?? Self.areSame(head[.lastModified], record?.lastModified))
                && (head.contentLength == nil || length == nil || head.contentLength == length)
            return isSame ? .unsplit : .changed
        default: return .invalid
        }
    }

    /// Whether both have the same bytes, or neither is set.
    private static func areSame(_ one: String?, _ other: String?) -> Bool {
        guard let first = one, let second = other else { return one == nil && other == nil }
        return first.utf8.elementsEqual(second.utf8)
    }

    /// Whether a response with the whole file offers ranges.
    static func offersRanges(_ head: ResponseHead) -> Bool {
        (head[.acceptRanges] ?? "").lowercasedToken().split(separator: ",")
            .contains { $0.trimmingBlanks() == "bytes" }
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
