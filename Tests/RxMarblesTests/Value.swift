/// A value of a recorded case: JSON, or the meaning of a tag.
indirect enum Value: Sendable, Hashable {
    case null
    case undefined
    case boolean(Bool)
    case number(Double)
    case string(String)
    case array([Value])
    case object([String: Value])
    /// A stream of the case, by its index.
    case node(Int)
    /// A call table of the case, by its index.
    case function(Int)
    /// `EMPTY` or `NEVER`.
    case constant(String)
    case error(name: String, message: String)
    /// A moment of virtual time, in milliseconds.
    case date(Double)
    /// An operator that is passed as a value.
    case operation(String, [Value])
    case scheduler
    /// A value that the recording does not describe further; matches any value.
    case opaque

    static func number(_ number: Int) -> Value { .number(Double(number)) }

    /// The value as a condition, by JavaScript's rules.
    var isTrue: Bool {
        switch self {
        case .null, .undefined, .boolean(false), .number(0), .string(""): false
        case .number(let number): !number.isNaN
        default: true
        }
    }

    /// A member of an object; `undefined` if there is none.
    subscript(member: String) -> Value {
        guard case .object(let members) = self else { return .undefined }
        return members[member] ?? .undefined
    }

    /// Whether the two are equal, as far as both are described.
    func matches(_ other: Value) -> Bool {
        switch (self, other) {
        case (.opaque, _), (_, .opaque): true
        case (.array(let ones), .array(let others)):
            ones.count == others.count && zip(ones, others).allSatisfy { $0.matches($1) }
        case (.object(let ones), .object(let others)):
            ones.count == others.count
                && ones.allSatisfy { name, value in others[name].map(value.matches) ?? false }
        default: self == other
        }
    }
}

extension Value: ExpressibleByStringLiteral, ExpressibleByBooleanLiteral {
    init(stringLiteral value: String) { self = .string(value) }
    init(booleanLiteral value: Bool) { self = .boolean(value) }
}

extension Value: CustomStringConvertible {
    var description: String {
        switch self {
        case .null: "null"
        case .undefined: "undefined"
        case .boolean(let value): "\(value)"
        case .number(let value): value == value.rounded() ? String("\(value)".dropLast(2)) : "\(value)"
        case .string(let value): "'\(value)'"
        case .array(let values): "\(values)"
        case .object(let members):
            "{\(members.sorted { $0.key < $1.key }.map { "\($0.key): \($0.value)" }.joined(separator: ", "))}"
        case .node(let index): "stream \(index)"
        case .function(let index): "function \(index)"
        case .constant(let name): name
        case .error(let name, let message): "\(name)(\(message))"
        case .date(let time): "at \(time)"
        case .operation(let name, let arguments): "\(name)(\(arguments))"
        case .scheduler: "scheduler"
        case .opaque: "…"
        }
    }
}

extension Value: Decodable {
    private enum Tag: String, CodingKey {
        case tag = "$"
        case node, fn, name, message, v, op, args
    }

    init(from decoder: any Decoder) throws {
        if let tagged = try? decoder.container(keyedBy: Tag.self), tagged.contains(.tag) {
            self = try Value(tagged)
            return
        }
        let plain = try decoder.singleValueContainer()
        if let string = try? plain.decode(String.self) {
            self = .string(string)
        } else if let number = try? plain.decode(Double.self) {
            self = .number(number)
        } else if let boolean = try? plain.decode(Bool.self) {
            self = .boolean(boolean)
        } else if let values = try? plain.decode([Value].self) {
            self = .array(values)
        } else if plain.decodeNil() {
            self = .null
        } else {
            self = .object(try plain.decode([String: Value].self))
        }
    }

    private init(_ tagged: KeyedDecodingContainer<Tag>) throws {
        switch try tagged.decode(String.self, forKey: .tag) {
        case "undefined": self = .undefined
        case "node": self = .node(try tagged.decode(Int.self, forKey: .node))
        case "fn": self = .function(try tagged.decode(Int.self, forKey: .fn))
        case "const": self = .constant(try tagged.decode(String.self, forKey: .name))
        case "scheduler": self = .scheduler
        case "date": self = .date(try tagged.decode(Double.self, forKey: .v))
        case "object": self = .object(try tagged.decode([String: Value].self, forKey: .v))
        case "opaque": self = .opaque
        case "error":
            self = .error(
                name: try tagged.decode(String.self, forKey: .name),
                message: try tagged.decode(String.self, forKey: .message))
        case "op":
            self = .operation(
                try tagged.decode(String.self, forKey: .op), try tagged.decode([Value].self, forKey: .args))
        case "number":
            let text = try tagged.decode(String.self, forKey: .v)
            guard let number = Double(text) else {
                throw DecodingError.dataCorruptedError(forKey: .v, in: tagged, debugDescription: text)
            }
            self = .number(number)
        case let tag:
            throw DecodingError.dataCorruptedError(
                forKey: .tag, in: tagged, debugDescription: "the tag \(tag) is unknown")
        }
    }
}
