package import FoundationEssentials
package import RxJSON

/// A JSON value as a tree.
package enum JSONValue: Sendable, Equatable {
    case null
    case bool(Bool)
    case integer(Int64)
    /// An integer greater than the maximum of `integer`.
    case unsigned(UInt64)
    case number(Double)
    /// A number with more digits than `number` keeps.
    case decimal(Decimal)
    case string(String)
    case array([JSONValue])
    case object([String: JSONValue])

    package subscript(key: String) -> JSONValue? {
        if case .object(let members) = self { members[key] } else { nil }
    }

    /// A string, number or Bool as text; `nil` for other values.
    package var scalarText: String? {
        switch self {
        case .null, .array, .object: nil
        case .bool(let value): value ? "true" : "false"
        case .integer(let value): String(value)
        case .unsigned(let value): String(value)
        case .number(let value): String(value)
        case .decimal(let value): value.description
        case .string(let value): value
        }
    }
}

extension JSONValue {
    /// Reads a JSON document; `nil` if it is none.
    package init?(parsing bytes: [UInt8]) {
        guard let document = try? JSONPart(wholeOf: bytes) else { return nil }
        self.init(document, in: bytes)
    }

    /// Reads a value of a document; `nil` if it is not valid JSON.
    package init?(_ part: JSONPart, in bytes: [UInt8]) {
        let tape = part.tape
        switch part.kind {
        case .null: self = .null
        case .false: self = .bool(false)
        case .true: self = .bool(true)
        case .integer, .number:
            self.init(number: String(decoding: bytes[part.literal], as: UTF8.self))
        case .ascii, .plain, .escaped:
            guard let text = tape.text(at: part.node, in: bytes) else { return nil }
            self = .string(text)
        case .array:
            var elements: [JSONValue] = []
            for node in tape.elements(of: part.node) {
                guard let element = JSONValue(JSONPart(tape, at: node), in: bytes) else { return nil }
                elements.append(element)
            }
            self = .array(elements)
        case .object, .mixedObject:
            var members: [String: JSONValue] = [:]
            for (key, value) in tape.members(of: part.node) {
                guard let name = tape.text(at: key, in: bytes),
                    let member = JSONValue(JSONPart(tape, at: value), in: bytes)
                else { return nil }
                // The first of several members with the same name counts, as for `JSONDecoder`.
                if members[name] == nil { members[name] = member }
            }
            self = .object(members)
        }
    }

    /// The number as a `Double` if that writes the same digits, otherwise as a `Decimal`.
    private init?(number text: String) {
        if let value = Int64(text) {
            self = .integer(value)
        } else if let value = UInt64(text) {
            self = .unsigned(value)
        } else if let value = Double(text), value.isFinite {
            if let integer = Int64(exactly: value) {
                self = .integer(integer)
            } else if !text.contains(where: { $0 == "e" || $0 == "E" }), value.description != text,
                let exact = Decimal(string: text), Double(exact.description) == value
            {
                // No `Double` is encoded like this.
                self = .decimal(exact)
            } else {
                self = .number(value)
            }
        } else {
            return nil
        }
    }
}

extension JSONValue: Encodable {
    package func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        switch self {
        case .null: try container.encodeNil()
        case .bool(let value): try container.encode(value)
        case .integer(let value): try container.encode(value)
        case .unsigned(let value): try container.encode(value)
        case .number(let value): try container.encode(value)
        case .decimal(let value): try container.encode(value)
        case .string(let value): try container.encode(value)
        case .array(let elements): try container.encode(elements)
        case .object(let members): try container.encode(members)
        }
    }
}

/// A key known only at run time.
package struct AnyCodingKey: CodingKey {
    package var stringValue: String
    package var intValue: Int? { nil }

    package init(_ key: String) { stringValue = key }

    package init(stringValue: String) { self.stringValue = stringValue }

    package init?(intValue: Int) { nil }
}
