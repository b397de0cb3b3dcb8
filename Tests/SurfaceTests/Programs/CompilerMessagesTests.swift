import Foundation
import Testing

/// The article "What the compiler says" quotes the compiler, for mistakes of the table.
@Suite struct CompilerMessagesTests {
    @Test(arguments: try QuotedMistake.all())
    func theMistakeIsInTheTable(_ quoted: QuotedMistake) throws {
        let mistake = try #require(
            (Mistake.all + Mistake.isolation).first { $0.tokens == SampleTests.tokens(quoted.code) },
            "not in Tests/SurfaceTests/Programs/Mistakes:\n\(quoted.code.joined(separator: "\n"))")
        #expect(!quoted.messages.isEmpty)
        for message in quoted.messages {
            #expect(mistake.messages.contains(message), "the table has \(mistake.messages)")
        }
    }

    @Test func thereAreMistakes() throws {
        #expect(try QuotedMistake.all().count >= 30)
    }
}

/// A block of the article with code and the compiler's messages about it.
struct QuotedMistake: Sendable, CustomTestStringConvertible {
    let code: [String]
    let messages: [String]

    var testDescription: String { code.first ?? "" }

    /// The blocks without a language, in which messages follow the code.
    static func all() throws -> [QuotedMistake] {
        let page = "Sources/RxNetworking/RxNetworking.docc/Essentials/CompilerMessages.md"
        let text = try String(contentsOf: SampleTests.root.appending(path: page), encoding: .utf8)
        return text.components(separatedBy: "\n```").enumerated().compactMap { index, block in
            // Every other piece is text between two blocks.
            guard index % 2 == 1, block.hasPrefix("\n") else { return nil }
            let lines = block.split(separator: "\n").map(String.init)
            return QuotedMistake(
                code: lines.filter { message(in: $0) == nil }, messages: lines.compactMap(message))
        }
    }

    private static func message(in line: String) -> String? {
        line.wholeMatch(of: #/(?:error|warning): (.+)/#).map { String($0.1) }
    }
}

extension Mistake {
    fileprivate var tokens: String { SampleTests.tokens(code.components(separatedBy: "\n")) }
}
