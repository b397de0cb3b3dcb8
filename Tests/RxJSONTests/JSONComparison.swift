import FoundationEssentials
import Testing

@testable import RxJSON

/// A document decoded in both ways.
struct JSONComparison<Value: Decodable & Equatable> {
    /// The result of `JSONDecoder`.
    let expected: Result<Value, any Error>
    /// The result of the quick way alone; an error if it leaves the document to the decoder.
    let quick: Result<Value, any Error>
    /// The result of both together.
    let outcome: Result<Value, any Error>
    private let again: () -> Result<Value, any Error>

    init(_: Value.Type = Value.self, _ bytes: [UInt8], by decoder: JSONDecoder = JSONDecoder()) {
        again = { Result { try decoder.decode(Value.self, from: Data(bytes)) } }
        expected = again()
        quick = Result {
            guard decoder.hasQuickWay(decoder.userInfo) else { throw JSONGivenUp() }
            return try JSONDocument.decode(
                Value.self, at: JSONPart(wholeOf: bytes), of: bytes, options: decoder,
                userInfo: decoder.userInfo)
        }
        outcome = Result { try decoder.decode(Value.self, quicklyFrom: bytes) }
    }

    init(_: Value.Type = Value.self, _ text: String, by decoder: JSONDecoder = JSONDecoder()) {
        self.init(Value.self, Array(text.utf8), by: decoder)
    }

    var isQuick: Bool { (try? quick.get()) != nil }

    /// Whether the quick way gives no value or the right one, and both together the same, errors included.
    var agrees: Bool {
        if let value = try? quick.get(), value != (try? expected.get()) { return false }
        switch (expected, outcome) {
        case (.success(let expected), .success(let value)): return expected == value
        case (.failure(let expected), .failure(let error)):
            // The first of two errors in a dictionary is arbitrary for the decoder, too.
            return "\(expected)" == "\(error)" || (0..<100).contains { _ in "\(again())" == "\(outcome)" }
        default: return false
        }
    }
}

/// A number compared bitwise: -0 is not 0.
struct Bits: Decodable, Equatable {
    let pattern: UInt64

    init(from decoder: any Decoder) throws {
        pattern = try decoder.singleValueContainer().decode(Double.self).bitPattern
    }
}

/// Any document, decoded by trial, as many programs do.
indirect enum Guess: Decodable, Equatable {
    case null, flag(Bool), integer(Int), unsigned(UInt64), number(Double), text(String)
    case list([Guess]), members([String: Guess])

    init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        if container.decodeNil() {
            self = .null
        } else if let value = try? container.decode(Int.self) {
            self = .integer(value)
        } else if let value = try? container.decode(UInt64.self) {
            self = .unsigned(value)
        } else if let value = try? container.decode(Double.self) {
            self = .number(value)
        } else if let value = try? container.decode(Bool.self) {
            self = .flag(value)
        } else if let value = try? container.decode([String: Guess].self) {
            self = .members(value)
        } else if let value = try? container.decode([Guess].self) {
            self = .list(value)
        } else {
            self = .text(try container.decode(String.self))
        }
    }
}

/// Accepts any document.
struct Anything: Decodable, Equatable {
    init(from _: any Decoder) {}
}

/// A value, or the text of the error that was caught.
struct Caught<Value: Decodable & Equatable>: Decodable, Equatable {
    let value: Value?, error: String?

    init(from decoder: any Decoder) {
        do {
            value = try Value(from: decoder)
            error = nil
        } catch {
            value = nil
            self.error = "\(error)"
        }
    }
}
