import Foundation
import RxTesting
import Testing

/// Malformed input for every parser: none traps, none returns an invalid result, and a seed gives the same in
/// every run.
///
/// `FUZZ_RUNS` is the number of inputs for each parser (default 2,000), `FUZZ_SEED` selects them.
@Suite struct FuzzTests {
    static let runs = number("FUZZ_RUNS") ?? 2000
    static let seed = UInt64(number("FUZZ_SEED") ?? 1)

    private static func number(_ name: String) -> Int? {
        ProcessInfo.processInfo.environment[name].flatMap(Int.init).map { max(0, $0) }
    }

    @Test(arguments: Parser.all)
    func standsBrokenInput(_ parser: Parser) throws {
        var random = SeededRandom(Self.seed)
        for _ in 0..<Self.runs {
            let input = Self.input(of: parser, &random)
            do {
                _ = try parser.parse(input)
            } catch let violation as Violation {
                Issue.record("\(violation): \(String(decoding: input, as: UTF8.self).debugDescription)")
            }
        }
    }

    @Test(arguments: Parser.all)
    func takesTheCorpus(_ parser: Parser) throws {
        for input in parser.corpus { _ = try parser.parse(input) }
    }

    @Test(arguments: Parser.all)
    func aSeedGivesTheSameAgain(_ parser: Parser) throws {
        func results() throws -> [String] {
            var random = SeededRandom(Self.seed)
            return try (0..<50).map { _ in try parser.parse(Self.input(of: parser, &random)) }
        }
        #expect(try results() == results())
    }

    /// An item of the corpus, changed up to three times, sometimes with another item after it.
    private static func input(of parser: Parser, _ random: inout SeededRandom) -> [UInt8] {
        var input = parser.corpus.randomElement(using: &random) ?? []
        for _ in 0..<Int.random(in: 1...3, using: &random) {
            let alphabet = Bool.random(using: &random) ? special : Array(UInt8.min...UInt8.max)
            input = input.mutated(by: &random, alphabet: alphabet)
            if Int.random(in: 0..<8, using: &random) == 0 {
                input += parser.corpus.randomElement(using: &random) ?? []
            }
        }
        return input
    }

    /// Characters with a meaning in grammars.
    private static let special = Array(
        "\0\t\r\n \"#$%&'()*+,-./0123456789:;<=>?@[\\]^_`aefintz{|}~\u{FF}é".utf8)
}
