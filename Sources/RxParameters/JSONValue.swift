/// A JSON value as a tree.
package enum JSONValue: Sendable, Equatable {
    case null
    case bool(Bool)
    case integer(Int64)
    /// An integer greater than the maximum of `integer`.
    case unsigned(UInt64)
    case number(Double)
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
        case .string(let value): value
        }
    }
}

extension JSONValue: Decodable {
    /// Tries strings first: they are the most frequent, and each failed attempt costs a thrown error.
    package init(from decoder: any Decoder) throws {
        let scalar = try? decoder.singleValueContainer()
        if let text = try? scalar?.decode(String.self) {
            self = .string(text)
        } else if let container = try? decoder.container(keyedBy: AnyCodingKey.self) {
            var members: [String: JSONValue] = [:]
            for key in container.allKeys {
                members[key.stringValue] = try container.decode(JSONValue.self, forKey: key)
            }
            self = .object(members)
        } else if var container = try? decoder.unkeyedContainer() {
            var elements: [JSONValue] = []
            while !container.isAtEnd { elements.append(try container.decode(JSONValue.self)) }
            self = .array(elements)
        } else {
            self = try JSONValue(scalarIn: decoder.singleValueContainer())
        }
    }

    private init(scalarIn container: any SingleValueDecodingContainer) throws {
        if container.decodeNil() {
            self = .null
        } else if let value = try? container.decode(Int64.self) {
            self = .integer(value)
        } else if let value = try? container.decode(Bool.self) {
            self = .bool(value)
        } else if let value = try? container.decode(UInt64.self) {
            self = .unsigned(value)
        } else {
            self = .number(try container.decode(Double.self))
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
