/// Makes the tape of a document in one pass. Accepts exactly the documents that `JSONDecoder` accepts before
/// it decodes a type: JSON in UTF-8 (RFC 8259 §8.1), with the same nesting limit (§9), and also with a comma
/// after the last element or member.
///
/// Reads and writes through pointers, which halves the work: bytes only where `index` is below `end`, words
/// only at places that were appended before, and `append` makes room.
@safe struct JSONScanner: ~Copyable {
    private let bytes: UnsafePointer<UInt8>
    private let end: Int
    private var index = 0
    private var words: UnsafeMutablePointer<UInt64>
    private var used = 0
    private var capacity: Int
    /// The node of the innermost open collection, -1 outside of all. The link of an open collection leads to
    /// the collection around it; while an inner one is open, its second word stores its count.
    private var open = -1
    /// The number of values that have ended in the innermost open collection.
    private var count = 0
    private var depth = 0

    private init(_ bytes: UnsafePointer<UInt8>, count: Int) {
        unsafe self.bytes = bytes
        end = count
        // More than most documents need.
        capacity = count / 3 + 16
        unsafe words = .allocate(capacity: capacity)
    }

    deinit { unsafe words.deallocate() }

    /// The tape of a document in UTF-8, with or without a byte order mark.
    static func tape(of bytes: [UInt8]) throws(JSONFlaw) -> JSONTape {
        guard bytes.count <= JSONTape.sizeLimit else { throw JSONFlaw(offset: JSONTape.sizeLimit) }
        return try unsafe bytes.withUnsafeBufferPointer { bytes throws(JSONFlaw) in
            guard let start = bytes.baseAddress else { throw JSONFlaw(offset: 0) }
            var scanner = unsafe JSONScanner(start, count: bytes.count)
            try scanner.scan()
            return unsafe JSONTape(
                words: Array(UnsafeBufferPointer(start: scanner.words, count: scanner.used)))
        }
    }

    private var flaw: JSONFlaw { JSONFlaw(offset: index) }

    private mutating func scan() throws(JSONFlaw) {
        if end >= 3, unsafe bytes[0] == 0xEF, unsafe bytes[1] == 0xBB, unsafe bytes[2] == 0xBF { index = 3 }
        repeat {
            try scanValue()
            while open >= 0, try !scanSeparator() {}
        } while open >= 0
        skipBlanks()
        guard index == end else { throw flaw }
        // Stands for absent values; see ``JSONDocument/absent``.
        append(.null, from: index, length: 0)
    }

    /// Scans a scalar or an empty collection, or enters a collection and scans its first value.
    private mutating func scanValue() throws(JSONFlaw) {
        let byte = try next()
        switch byte {
        case UInt8(ascii: "\""): try scanString()
        case UInt8(ascii: "{"):
            try enter(.object)
            if try next() == UInt8(ascii: "}") { return leave() }
            try scanKey()
            try scanValue()
        case UInt8(ascii: "["):
            try enter(.array)
            if try next() == UInt8(ascii: "]") { return leave() }
            try scanValue()
        case UInt8(ascii: "-"), UInt8(ascii: "0")...UInt8(ascii: "9"): scanNumber()
        case UInt8(ascii: "t"): try scanLiteral("true", .true)
        case UInt8(ascii: "f"): try scanLiteral("false", .false)
        case UInt8(ascii: "n"): try scanLiteral("null", .null)
        default: throw flaw
        }
    }

    /// Scans the bytes after a value in a collection; returns whether another value follows in the innermost
    /// one.
    private mutating func scanSeparator() throws(JSONFlaw) -> Bool {
        count += 1
        let isObject = unsafe JSONWord(bits: words[open]).isObject
        let closer = isObject ? UInt8(ascii: "}") : UInt8(ascii: "]")
        var byte = try next()
        if byte == UInt8(ascii: ",") {
            index += 1
            byte = try next()
            guard byte == closer else {
                if isObject { try scanKey() }
                return true
            }
        }
        guard byte == closer else { throw flaw }
        leave()
        return false
    }

    private mutating func enter(_ kind: JSONTape.Kind) throws(JSONFlaw) {
        guard depth < JSONTape.depthLimit else { throw flaw }
        depth += 1
        if open >= 0 { unsafe words[open + 1] = UInt64(truncatingIfNeeded: count) }
        count = 0
        let parent = open
        open = used
        // The outermost has no parent; its link is not followed.
        append(kind, from: index, length: parent)
        append(.null, from: 0, length: 0)
        index += 1
    }

    private mutating func leave() {
        index += 1
        let word = unsafe JSONWord(bits: words[open])
        let parent = depth == 1 ? -1 : word.length
        unsafe words[open] = JSONWord(word.kind, offset: word.offset, length: used).bits
        unsafe words[open + 1] = UInt64(truncatingIfNeeded: count) | UInt64(truncatingIfNeeded: index) << 32
        depth -= 1
        open = parent
        if parent >= 0 { count = unsafe Int(truncatingIfNeeded: words[parent + 1]) }
    }

    private mutating func scanKey() throws(JSONFlaw) {
        guard unsafe bytes[index] == UInt8(ascii: "\"") else { throw flaw }
        let kind = try scanString()
        if kind != .ascii {
            let word = unsafe JSONWord(bits: words[open])
            unsafe words[open] = JSONWord(.mixedObject, offset: word.offset, length: word.length).bits
        }
        guard try next() == UInt8(ascii: ":") else { throw flaw }
        index += 1
    }

    @inline(__always)
    private mutating func append(_ kind: JSONTape.Kind, from start: Int, length: Int) {
        if used == capacity { grow() }
        unsafe words[used] = JSONWord(kind, offset: start, length: length).bits
        used += 1
    }

    @inline(never)
    private mutating func grow() {
        let larger = UnsafeMutablePointer<UInt64>.allocate(capacity: capacity * 2)
        unsafe larger.moveInitialize(from: words, count: used)
        unsafe words.deallocate()
        unsafe words = larger
        capacity *= 2
    }

    // MARK: - Tokens

    private mutating func skipBlanks() {
        while index < end {
            switch unsafe bytes[index] {
            case 0x20, 0x0A, 0x0D, 0x09: index += 1
            default: return
            }
        }
    }

    /// The next byte that is not blank (RFC 8259 §2).
    @inline(__always)
    private mutating func next() throws(JSONFlaw) -> UInt8 {
        if index < end, unsafe bytes[index] > 0x20 { return unsafe bytes[index] }
        skipBlanks()
        guard index < end else { throw flaw }
        return unsafe bytes[index]
    }

    private mutating func scanLiteral(_ text: StaticString, _ kind: JSONTape.Kind) throws(JSONFlaw) {
        let start = index
        for offset in 0..<text.utf8CodeUnitCount {
            guard index < end, unsafe bytes[index] == text.utf8Start[offset] else { throw flaw }
            index += 1
        }
        append(kind, from: start, length: index - start)
    }

    private mutating func skipDigits() {
        while index < end, unsafe bytes[index] &- UInt8(ascii: "0") < 10 { index += 1 }
    }

    private mutating func scanNumber() {
        let start = index
        if unsafe bytes[index] == UInt8(ascii: "-") { index += 1 }
        let digits = index
        skipDigits()
        // Readers take the digits of an `.integer` without a check.
        var kind = JSONTape.Kind.integer
        if index == digits { kind = .number }
        if index - digits > 1, unsafe bytes[digits] == UInt8(ascii: "0") { kind = .number }
        scan: while index < end {
            switch unsafe bytes[index] {
            case UInt8(ascii: "."), UInt8(ascii: "+"), UInt8(ascii: "-"), UInt8(ascii: "e"),
                UInt8(ascii: "E"):
                kind = .number
                index += 1
                skipDigits()
            default: break scan
            }
        }
        append(kind, from: start, length: index - start)
    }

    @discardableResult
    private mutating func scanString() throws(JSONFlaw) -> JSONTape.Kind {
        index += 1
        let start = index
        // Readers take the bytes of `.ascii` without a check; see ``JSONTape/Kind``.
        var kind = JSONTape.Kind.ascii
        while true {
            if try skipText() != 0, kind == .ascii { kind = .plain }
            let byte = unsafe bytes[index]
            if byte == UInt8(ascii: "\"") { break }
            kind = .escaped
            if byte == UInt8(ascii: "\\") { try skipEscape() } else { index += 1 }
        }
        append(kind, from: start, length: index - start)
        index += 1
        return kind
    }

    /// Advances to a quote, a backslash or a control character, eight bytes at a time. Returns the highest
    /// bits of the bytes passed, which are zero in ASCII.
    private mutating func skipText() throws(JSONFlaw) -> UInt64 {
        let each: UInt64 = 0x0101_0101_0101_0101, highest = each << 7
        var seen: UInt64 = 0
        while end - index >= 8 {
            let raw = unsafe UnsafeRawPointer(bytes + index).loadUnaligned(as: UInt64.self)
            let chunk = UInt64(littleEndian: raw)
            let quote = chunk ^ each &* 0x22, backslash = chunk ^ each &* 0x5C
            // The lowest byte marked here is one that matches, or is below 0x20; marks above it may be wrong.
            let stops =
                ((quote &- each) & ~quote | (backslash &- each) & ~backslash | (chunk &- each &* 0x20)
                    & ~chunk)
                & highest
            guard stops == 0 else {
                let bits = stops.trailingZeroBitCount & ~7
                index += bits / 8
                return (seen | chunk & (1 << UInt64(truncatingIfNeeded: bits) - 1)) & highest
            }
            seen |= chunk
            index += 8
        }
        while index < end {
            let byte = unsafe bytes[index]
            if byte < 0x20 || byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\") {
                return seen & highest
            }
            seen |= UInt64(byte)
            index += 1
        }
        throw flaw
    }

    /// Skips an escape (RFC 8259 §7). Checks only as much as is needed to find the closing quote of the
    /// string.
    private mutating func skipEscape() throws(JSONFlaw) {
        guard end - index >= 2 else {
            index = end
            throw flaw
        }
        let isUnicode = unsafe bytes[index + 1] == UInt8(ascii: "u")
        index += 2
        guard isUnicode else { return }
        for _ in 0..<4 {
            guard index < end, unsafe bytes[index] != UInt8(ascii: "\"") else { throw flaw }
            index += 1
        }
    }
}

/// The first byte at which a document is not valid JSON.
package struct JSONFlaw: Error, Equatable {
    package let offset: Int
}
