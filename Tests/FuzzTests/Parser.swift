import Testing

/// One parser, with its corpus and the conditions on its result.
struct Parser: Sendable, CustomTestStringConvertible {
    let name: String
    /// Valid and nearly valid texts, the material of the malformed ones.
    let corpus: [[UInt8]]
    /// Parses, throws ``Violation`` for an invalid result, and returns the result as text.
    let parse: @Sendable ([UInt8]) throws -> String

    var testDescription: String { name }

    init(_ name: String, _ corpus: [String], _ parse: @escaping @Sendable ([UInt8]) throws -> String) {
        self.name = name
        self.corpus = corpus.map { Array($0.utf8) }
        self.parse = parse
    }

    /// The same for parsers of binary formats.
    init(
        _ name: String, bytes corpus: [[UInt8]], _ parse: @escaping @Sendable ([UInt8]) throws -> String
    ) {
        self.name = name
        self.corpus = corpus
        self.parse = parse
    }

    /// The same for parsers of text.
    init(_ name: String, text corpus: [String], _ parse: @escaping @Sendable (String) throws -> String) {
        self.init(name, corpus) { try parse(String(decoding: $0, as: UTF8.self)) }
    }
}

/// A result that a parser must not return.
struct Violation: Error, CustomStringConvertible {
    let description: String
}

/// Throws if `condition` is false.
func demand(_ condition: Bool, _ description: @autoclosure () -> String) throws(Violation) {
    if !condition { throw Violation(description: description()) }
}
