#if Fleet
/// A value of the Redis serialization protocol, version 3 (https://redis.io/docs/latest/develop/reference/protocol-spec).
enum RESPValue: Sendable, Equatable {
    /// A short text without line ends, such as `OK`.
    case simple(String)
    /// Bytes: of a bulk string, or of a verbatim string without its format.
    case string([UInt8])
    /// A reply of failure.
    case error(RESPFailure)
    case integer(Int64)
    case double(Double)
    case boolean(Bool)
    /// The decimal digits of an integer of any size, with its sign.
    case bigNumber(String)
    /// Also the null strings and null arrays of version 2.
    case null
    case array([RESPValue])
    case set([RESPValue])
    /// Keys and values in turn.
    case map([RESPValue])
    /// A message that is no reply.
    case push([RESPValue])
}

/// The text of a failure, which begins with its code: `NOAUTH Authentication required.`
struct RESPFailure: Sendable, Equatable {
    let text: String

    /// The first word of the text.
    var code: Substring { text.prefix { $0 != " " } }
}

extension RESPValue {
    /// The bytes of a text.
    var bytes: [UInt8]? {
        switch self {
        case .string(let bytes): bytes
        case .simple(let text): Array(text.utf8)
        default: nil
        }
    }

    /// The text; bytes that are not UTF-8 are replaced.
    var text: String? { bytes.map { String(decoding: $0, as: UTF8.self) } }

    /// The elements of an array, a set or a push.
    var elements: [RESPValue]? {
        switch self {
        case .array(let elements), .set(let elements), .push(let elements): elements
        default: nil
        }
    }

    /// The value of a key in a map; the first, if the key occurs twice.
    subscript(key: String) -> RESPValue? {
        guard case .map(let parts) = self else { return nil }
        for index in stride(from: 0, to: parts.count - 1, by: 2) where parts[index].text == key {
            return parts[index + 1]
        }
        return nil
    }

    /// The kind in words, for messages.
    var kind: String {
        switch self {
        case .simple, .string: "a text"
        case .error: "an error"
        case .integer, .bigNumber: "an integer"
        case .double: "a number"
        case .boolean: "a boolean"
        case .null: "null"
        case .array, .set: "an array"
        case .map: "a map"
        case .push: "a push"
        }
    }
}

/// A command: an array of byte strings, in the form in which it is sent.
struct RedisCommand: Sendable, Equatable {
    let bytes: [UInt8]

    init(_ arguments: [[UInt8]]) {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(arguments.reduce(16) { $0 + $1.count + 16 })
        Self.append("*", arguments.count, to: &bytes)
        for argument in arguments {
            Self.append("$", argument.count, to: &bytes)
            bytes += argument
            Self.endLine(&bytes)
        }
        self.bytes = bytes
    }

    /// A command of words, and of arguments that are any bytes.
    init(_ words: String..., bytes arguments: [[UInt8]] = []) {
        self.init(words.map { Array($0.utf8) } + arguments)
    }

    /// Appends `GET` of the key that begins with `prefix`, without an array of its own.
    static func appendGet(of key: String, below prefix: borrowing [UInt8], to bytes: inout [UInt8]) {
        // Guard: the pointers are used only inside the closures. Appending an array would retain it.
        let beginning: StaticString = "*2\r\n$3\r\nGET\r\n"
        beginning.withUTF8Buffer { unsafe bytes.append(contentsOf: $0) }
        append("$", prefix.count + key.utf8.count, to: &bytes)
        unsafe prefix.withUnsafeBufferPointer { unsafe bytes.append(contentsOf: $0) }
        bytes += key.utf8
        endLine(&bytes)
    }

    private static func endLine(_ output: inout [UInt8]) {
        output.append(0x0D)
        output.append(0x0A)
    }

    private static func append(_ kind: Unicode.Scalar, _ count: Int, to output: inout [UInt8]) {
        output.append(UInt8(ascii: kind))
        var divisor = 1
        while count / divisor >= 10 { divisor *= 10 }
        while divisor > 0 {
            output.append(UInt8(ascii: "0") + UInt8(count / divisor % 10))
            divisor /= 10
        }
        endLine(&output)
    }
}
#endif
