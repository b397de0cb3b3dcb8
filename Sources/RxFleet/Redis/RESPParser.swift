#if Fleet
/// Reads the values of RESP3 from bytes that arrive in pieces; a pure state machine.
///
/// The cost is linear in the number of bytes, however they are split: no byte of an unfinished value is read twice. After
/// an error nothing more is read. Streamed strings and aggregates, which Redis does not send, are refused.
struct RESPParser: Sendable {
    /// The sizes that a value may have.
    struct Limits: Sendable {
        /// The bytes of a line, such as the text of an error. Default 64 KiB.
        var line = 64 << 10
        /// The bytes of a string. Default 32 MiB; ``RedisStore`` allows those of an entry.
        var string = 32 << 20
        /// The number of values within a value, at all depths. Default 65,536.
        var elements = 65_536
        /// The bytes of a value as a whole, at all depths. Default 64 MiB.
        var total = 64 << 20
        /// How deep aggregates may be nested. Default 16.
        var depth = 16
    }

    private enum Kind { case array, set, map, push, attribute }

    /// An aggregate that is not complete.
    private struct Frame {
        let kind: Kind
        var missing: Int
        var elements: [RESPValue] = []
    }

    private enum Strings { case plain, verbatim, failure }

    private let limits: Limits
    private var buffer: [UInt8] = []
    /// The beginning of what has not been read.
    private var position = 0
    /// Up to here there is no line end.
    private var scanned = 0
    private var frames: [Frame] = []
    /// The string whose header has been read.
    private var string: (kind: Strings, count: Int)?
    /// The values and bytes of the value that is being read.
    private var elementCount = 0
    private var byteCount = 0
    private var failure: RESPError?

    init(limits: Limits = Limits()) { self.limits = limits }

    /// The number of bytes that wait for more.
    var pendingCount: Int { buffer.count - position }

    /// Whether a value has begun and is not complete.
    var isInValue: Bool { pendingCount > 0 || !frames.isEmpty || string != nil }

    /// Adds bytes that have arrived.
    mutating func append(_ bytes: some Collection<UInt8>) {
        guard failure == nil else { return }
        if position == buffer.count {
            buffer.removeAll(keepingCapacity: buffer.capacity <= Self.keptCapacity)
            (position, scanned) = (0, 0)
        } else if position > Self.keptCapacity, position > buffer.count / 2 {
            // At most as many bytes are moved as have been read since the last time.
            buffer.removeFirst(position)
            scanned -= position
            position = 0
        }
        buffer.append(contentsOf: bytes)
    }

    /// The buffer that is kept when it is empty.
    private static let keptCapacity = 64 << 10

    /// The next complete value; `nil` if more bytes are needed.
    mutating func next() throws(RESPError) -> RESPValue? {
        if let value = nextString({ RESPValue.string(Array($0)) }) { return value }
        if let failure { throw failure }
        do throws(RESPError) {
            while let value = try readPart() {
                if let whole = fold(consume value) {
                    (elementCount, byteCount) = (0, 0)
                    return whole
                }
            }
            return nil
        } catch {
            failure = error
            buffer = []
            frames = []
            (position, scanned, string) = (0, 0, nil)
            throw error
        }
    }

    /// What `read` makes of the next value if that is what most replies are: a string by itself, all of whose bytes have
    /// arrived. Leaves everything else, and all that is wrong, to ``next()``.
    ///
    /// - Parameter read: must not keep the bytes, because the parser would then copy all of its buffer.
    mutating func nextString<Value>(_ read: (ArraySlice<UInt8>) -> Value) -> Value? {
        guard frames.isEmpty, string == nil, elementCount == 0, byteCount == 0, position < buffer.count,
            buffer[position] == UInt8(ascii: "$")
        else { return nil }
        var index = position + 1
        let lastDigit = min(index + 9, buffer.count)
        var length = 0
        while index < lastDigit {
            let digit = buffer[index] &- UInt8(ascii: "0")
            guard digit <= 9 else { break }
            length = length * 10 + Int(digit)
            index += 1
        }
        let (start, end) = (index + 2, index + 2 + length)
        guard index > position + 1, length <= limits.string, end + 2 <= buffer.count,
            end - position <= limits.total, limits.elements > 0,
            buffer[index] == 0x0D, buffer[index + 1] == 0x0A, buffer[end] == 0x0D, buffer[end + 1] == 0x0A
        else { return nil }
        position = end + 2
        scanned = position
        return read(buffer[start..<end])
    }

    // MARK: - Parts

    /// The next value that contains no others, or an empty aggregate; begins aggregates on the way.
    private mutating func readPart() throws(RESPError) -> RESPValue? {
        while true {
            if let string {
                guard let value = try readString(string.kind, string.count) else { return nil }
                self.string = nil
                return value
            }
            guard let line = try readLine() else { return nil }
            if let value = try begin(line) { return value }
        }
    }

    /// The bounds of the next line, without its type and its end.
    private mutating func readLine() throws(RESPError) -> (type: UInt8, content: Range<Int>)? {
        while scanned < buffer.count, buffer[scanned] != 0x0D {
            guard buffer[scanned] != 0x0A else { throw .lineEnd }
            scanned += 1
        }
        guard scanned - position <= limits.line else { throw .longLine }
        guard scanned + 1 < buffer.count else { return nil }
        guard buffer[scanned + 1] == 0x0A else { throw .lineEnd }
        guard scanned > position else { throw .unknownType(0x0D) }
        let line = (buffer[position], (position + 1)..<scanned)
        scanned += 2
        try count(bytes: scanned - position)
        position = scanned
        return line
    }

    /// A value of a line, or `nil` if the line begins something longer.
    private mutating func begin(
        _ line: (type: UInt8, content: Range<Int>)
    ) throws(RESPError) -> RESPValue? {
        let content = line.content
        if line.type != UInt8(ascii: "|") {
            elementCount += 1
            guard elementCount <= limits.elements else { throw .manyElements }
        }
        switch line.type {
        case UInt8(ascii: "+"): return .simple(String(decoding: buffer[content], as: UTF8.self))
        case UInt8(ascii: "-"):
            return .error(RESPFailure(text: String(decoding: buffer[content], as: UTF8.self)))
        case UInt8(ascii: ":"): return .integer(try integer(content))
        case UInt8(ascii: ","): return .double(try double(content))
        case UInt8(ascii: "("): return .bigNumber(try bigNumber(content))
        case UInt8(ascii: "#"):
            switch buffer[content] {
            case [UInt8(ascii: "t")]: return .boolean(true)
            case [UInt8(ascii: "f")]: return .boolean(false)
            default: throw .malformed
            }
        case UInt8(ascii: "_"):
            guard content.isEmpty else { throw .malformed }
            return .null
        case UInt8(ascii: "$"): return try beginString(.plain, content)
        case UInt8(ascii: "="): return try beginString(.verbatim, content)
        case UInt8(ascii: "!"): return try beginString(.failure, content)
        case UInt8(ascii: "*"): return try beginAggregate(.array, content)
        case UInt8(ascii: "~"): return try beginAggregate(.set, content)
        case UInt8(ascii: "%"): return try beginAggregate(.map, content)
        case UInt8(ascii: ">"): return try beginAggregate(.push, content)
        case UInt8(ascii: "|"): return try beginAggregate(.attribute, content)
        default: throw .unknownType(line.type)
        }
    }

    private mutating func beginString(
        _ kind: Strings, _ content: Range<Int>
    ) throws(RESPError) -> RESPValue? {
        guard let length = try length(content) else { return .null }
        guard length <= limits.string else { throw .longString }
        try count(bytes: length)
        string = (kind, length)
        return nil
    }

    private mutating func readString(_ kind: Strings, _ count: Int) throws(RESPError) -> RESPValue? {
        guard buffer.count - position >= count + 2 else { return nil }
        let end = position + count
        guard buffer[end] == 0x0D, buffer[end + 1] == 0x0A else { throw .lineEnd }
        let bytes = buffer[position..<end]
        position = end + 2
        scanned = position
        switch kind {
        case .plain: return .string(Array(bytes))
        case .failure: return .error(RESPFailure(text: String(decoding: bytes, as: UTF8.self)))
        case .verbatim:
            guard bytes.count >= 4, bytes[bytes.startIndex + 3] == UInt8(ascii: ":") else {
                throw .malformed
            }
            return .string(Array(bytes.dropFirst(4)))
        }
    }

    // MARK: - Aggregates

    private mutating func beginAggregate(
        _ kind: Kind, _ content: Range<Int>
    ) throws(RESPError) -> RESPValue? {
        guard let length = try length(content) else {
            guard kind == .array else { throw .malformed }
            return .null
        }
        // A push is never part of another value, and has at least a name.
        if kind == .push, !frames.isEmpty || length == 0 { throw .malformed }
        guard length <= limits.elements else { throw .manyElements }
        guard frames.count < limits.depth else { throw .deepNesting }
        let isPaired = kind == .map || kind == .attribute
        let frame = Frame(kind: kind, missing: isPaired ? 2 * length : length)
        guard frame.missing > 0 else { return kind == .attribute ? nil : Self.value(of: frame) }
        frames.append(frame)
        return nil
    }

    /// Adds a value to the aggregates that it completes; returns the outermost value if that is complete.
    private mutating func fold(_ value: consuming RESPValue) -> RESPValue? {
        while let last = frames.indices.last {
            frames[last].elements.append(value)
            frames[last].missing -= 1
            guard frames[last].missing == 0 else { return nil }
            let frame = frames.removeLast()
            // Attributes precede a value and tell nothing that is needed.
            if frame.kind == .attribute { return nil }
            value = Self.value(of: frame)
        }
        return value
    }

    private static func value(of frame: Frame) -> RESPValue {
        switch frame.kind {
        case .array, .attribute: .array(frame.elements)
        case .set: .set(frame.elements)
        case .map: .map(frame.elements)
        case .push: .push(frame.elements)
        }
    }

    // MARK: - Numbers

    private mutating func count(bytes: Int) throws(RESPError) {
        byteCount += bytes
        guard byteCount <= limits.total else { throw .longValue }
    }

    /// A length; `nil` for −1, the null of version 2.
    private func length(_ range: Range<Int>) throws(RESPError) -> Int? {
        guard range.count > 0, buffer[range.lowerBound] != UInt8(ascii: "?") else { throw .streamed }
        guard let length = Int(exactly: try integer(range)), length >= -1 else { throw .malformed }
        return length < 0 ? nil : length
    }

    private func integer(_ range: Range<Int>) throws(RESPError) -> Int64 {
        // Most are short, and have no sign.
        if (1...18).contains(range.count) {
            var number: Int64 = 0
            for index in range {
                let digit = buffer[index] &- UInt8(ascii: "0")
                guard digit <= 9 else { return try signedInteger(range) }
                number = number * 10 + Int64(digit)
            }
            return number
        }
        return try signedInteger(range)
    }

    private func signedInteger(_ range: Range<Int>) throws(RESPError) -> Int64 {
        guard range.count <= 20, let number = Int64(String(decoding: buffer[range], as: UTF8.self)) else {
            throw .malformed
        }
        return number
    }

    private func double(_ range: Range<Int>) throws(RESPError) -> Double {
        let text = String(decoding: buffer[range], as: UTF8.self)
        switch text {
        case "inf": return .infinity
        case "-inf": return -.infinity
        case "nan", "-nan": return .nan
        default:
            let isDecimal = text.utf8.allSatisfy { "0123456789+-.eE".utf8.contains($0) }
            guard isDecimal, text.utf8.count <= 400, let number = Double(text) else { throw .malformed }
            return number
        }
    }

    private func bigNumber(_ range: Range<Int>) throws(RESPError) -> String {
        let text = String(decoding: buffer[range], as: UTF8.self)
        let digits = text.utf8.drop { $0 == UInt8(ascii: "-") || $0 == UInt8(ascii: "+") }
        guard !digits.isEmpty, text.utf8.count - digits.count <= 1,
            digits.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) })
        else { throw .malformed }
        return text
    }
}

/// The reason why bytes are not RESP3, or more than is accepted.
enum RESPError: Error, Equatable, CustomStringConvertible {
    /// No type begins with this byte.
    case unknownType(UInt8)
    /// A line does not end in CR LF, or a string not where it should.
    case lineEnd
    /// A number, length or boolean is not one, or a push is within another value.
    case malformed
    /// A string or aggregate without a length.
    case streamed
    case longLine
    case longString
    case longValue
    case manyElements
    case deepNesting

    var description: String {
        switch self {
        case .unknownType(let byte): "no type of RESP3 begins with byte \(byte)"
        case .lineEnd: "a line end is missing"
        case .malformed: "a number, length or boolean is malformed"
        case .streamed: "a string or aggregate has no length"
        case .longLine: "a line is too long"
        case .longString: "a string is too long"
        case .longValue: "a value is too long"
        case .manyElements: "a value has too many elements"
        case .deepNesting: "aggregates are nested too deep"
        }
    }
}
#endif
