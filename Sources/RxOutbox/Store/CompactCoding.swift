#if Outbox
import FoundationEssentials

/// A value that a store holds in a compact form: its parts in a fixed order, without names. Entries are encoded and decoded
/// so often that JSON would take a third of the time of an outbox.
protocol CompactValue {
    func write(to writer: inout CompactWriter)
    init(from reader: inout CompactReader) throws(CompactFormError)
}

/// Bytes that are not the compact form of a value.
struct CompactFormError: Error {}

/// The number of a compact form, its first byte; 0x7B is that of JSON. To change the layout of any ``CompactValue``:
/// increment `current`, keep reading the former number in `init(stored:)` (which now refuses every other), and raise
/// `OutboxTable.version`.
private enum CompactForm {
    static let current: UInt8 = 1
    static let json = UInt8(ascii: "{")
}

extension CompactValue {
    /// The bytes to store.
    var compactForm: Data {
        var writer = CompactWriter()
        writer.write(CompactForm.current)
        write(to: &writer)
        return Data(writer.bytes)
    }
}

extension CompactValue where Self: Decodable {
    /// Reads the compact form, or the JSON that versions 1 and 2 of the store have instead.
    ///
    /// - Throws: if the bytes are neither, or something follows the value.
    init(stored data: Data) throws {
        guard data.first != CompactForm.json else {
            self = try JSONDecoder().decode(Self.self, from: data)
            return
        }
        var reader = CompactReader(data)
        guard try reader.byte() == CompactForm.current else { throw CompactFormError() }
        try self.init(from: &reader)
        guard reader.isAtEnd else { throw CompactFormError() }
    }
}

/// Writes values one after another.
struct CompactWriter {
    fileprivate(set) var bytes: [UInt8] = []

    init() { bytes.reserveCapacity(192) }

    /// A byte, such as the number of an enumeration's case.
    mutating func write(_ byte: UInt8) { bytes.append(byte) }

    mutating func write(_ value: some CompactValue) { value.write(to: &self) }

    mutating func write(_ value: (some CompactValue)?) {
        write(value != nil)
        if let value { value.write(to: &self) }
    }

    mutating func write(_ values: [some CompactValue]) {
        write(values.count)
        for value in values { value.write(to: &self) }
    }

    /// In groups of seven bits, the lowest first; small numbers take one byte.
    fileprivate mutating func writeVarint(_ number: UInt64) {
        var rest = number
        while rest >= 0x80 {
            bytes.append(UInt8(truncatingIfNeeded: rest) | 0x80)
            rest >>= 7
        }
        bytes.append(UInt8(rest))
    }

    fileprivate mutating func writeFixed(_ number: UInt64) {
        for shift in stride(from: 0, to: 64, by: 8) {
            bytes.append(UInt8(truncatingIfNeeded: number >> shift))
        }
    }
}

/// Reads what a ``CompactWriter`` has written.
struct CompactReader {
    private let bytes: [UInt8]
    private var index = 0

    init(_ data: Data) { bytes = Array(data) }

    var isAtEnd: Bool { index == bytes.count }

    mutating func byte() throws(CompactFormError) -> UInt8 {
        guard index < bytes.count else { throw CompactFormError() }
        defer { index += 1 }
        return bytes[index]
    }

    mutating func value<Value: CompactValue>(
        _: Value.Type = Value.self
    ) throws(CompactFormError) -> Value {
        try Value(from: &self)
    }

    mutating func optional<Value: CompactValue>(
        _: Value.Type = Value.self
    ) throws(CompactFormError) -> Value? {
        try value(Bool.self) ? try Value(from: &self) : nil
    }

    mutating func list<Value: CompactValue>(
        _: Value.Type = Value.self
    ) throws(CompactFormError) -> [Value] {
        var values: [Value] = []
        for _ in 0..<(try count()) { values.append(try Value(from: &self)) }
        return values
    }

    /// The number of the elements or bytes that follow; each takes at least a byte.
    fileprivate mutating func count() throws(CompactFormError) -> Int {
        let count = try value(Int.self)
        guard count >= 0, count <= bytes.count - index else { throw CompactFormError() }
        return count
    }

    fileprivate mutating func slice() throws(CompactFormError) -> ArraySlice<UInt8> {
        let end = try count() + index
        defer { index = end }
        return bytes[index..<end]
    }

    fileprivate mutating func varint() throws(CompactFormError) -> UInt64 {
        var number: UInt64 = 0
        for shift in stride(from: 0, to: 64, by: 7) {
            let byte = try byte()
            number |= UInt64(byte & 0x7F) << shift
            if byte < 0x80 { return number }
        }
        throw CompactFormError()
    }

    fileprivate mutating func fixed() throws(CompactFormError) -> UInt64 {
        var number: UInt64 = 0
        for shift in stride(from: 0, to: 64, by: 8) { number |= UInt64(try byte()) << shift }
        return number
    }
}

// MARK: - Types of the standard library

// Databases have these layouts; to change one, see `CompactForm`.

extension Bool: CompactValue {
    func write(to writer: inout CompactWriter) { writer.write(UInt8(self ? 1 : 0)) }

    init(from reader: inout CompactReader) throws(CompactFormError) {
        switch try reader.byte() {
        case 0: self = false
        case 1: self = true
        default: throw CompactFormError()
        }
    }
}

extension Int: CompactValue {
    /// Zigzag: the sign is the lowest bit.
    func write(to writer: inout CompactWriter) {
        writer.writeVarint(UInt64(bitPattern: Int64(self) << 1 ^ Int64(self) >> 63))
    }

    init(from reader: inout CompactReader) throws(CompactFormError) {
        let number = try reader.varint()
        self.init(truncatingIfNeeded: Int64(bitPattern: number >> 1) ^ -Int64(bitPattern: number & 1))
    }
}

extension String: CompactValue {
    func write(to writer: inout CompactWriter) {
        writer.write(utf8.count)
        writer.bytes.append(contentsOf: utf8)
    }

    init(from reader: inout CompactReader) throws(CompactFormError) {
        guard let text = String(validating: try reader.slice(), as: UTF8.self) else {
            throw CompactFormError()
        }
        self = text
    }
}

extension Data: CompactValue {
    func write(to writer: inout CompactWriter) {
        writer.write(count)
        writer.bytes.append(contentsOf: self)
    }

    init(from reader: inout CompactReader) throws(CompactFormError) { self.init(try reader.slice()) }
}

extension Date: CompactValue {
    func write(to writer: inout CompactWriter) {
        writer.writeFixed(timeIntervalSinceReferenceDate.bitPattern)
    }

    init(from reader: inout CompactReader) throws(CompactFormError) {
        self.init(timeIntervalSinceReferenceDate: Double(bitPattern: try reader.fixed()))
    }
}

extension Duration: CompactValue {
    /// Two fixed numbers, which databases have.
    func write(to writer: inout CompactWriter) {
        writer.writeFixed(UInt64(bitPattern: components.seconds))
        writer.writeFixed(UInt64(bitPattern: components.attoseconds))
    }

    init(from reader: inout CompactReader) throws(CompactFormError) {
        let seconds = Int64(bitPattern: try reader.fixed())
        self.init(secondsComponent: seconds, attosecondsComponent: Int64(bitPattern: try reader.fixed()))
    }
}
#endif
