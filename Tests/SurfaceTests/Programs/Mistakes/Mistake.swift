import Foundation
import Testing

/// A program that a newcomer may write and the compiler refuses or warns about, and the parts of its messages that
/// matter.
struct Mistake: Sendable, CustomTestStringConvertible {
    let testDescription: String
    let code: String
    let messages: [String]
    private let isAsync: Bool
    private let imports: [String]

    /// - Parameters:
    ///   - isAsync: whether the code is that of an asynchronous function.
    ///   - imports: the modules that the code needs besides RxNetworking.
    ///   - code: statements, with a `client`, a signal `search`, a `session`, and the types and functions of
    ///     `Samples/Scenery.swift`.
    init(
        _ name: String, isAsync: Bool = false, importing imports: [String] = [], _ code: String,
        _ messages: String...
    ) {
        testDescription = name
        self.code = code
        self.messages = messages
        self.isAsync = isAsync
        self.imports = imports
    }

    /// The mistakes that a type check finds.
    static let all =
        rxSwift + combine + streams + requests + endpoints + awaiting + sessions + paging + transfers + cache
        + testing

    /// The mistakes that the compiler finds after the type check, if there are no others.
    static let isolation = [
        // The reason for the advice in the article Threading.
        Mistake(
            "a closure for AsyncSequence on an actor",
            #"Task { @MainActor in await Observable<String, Never>.just("a").first { $0 != "b" } }"#,
            "(String) async -> Bool'")
    ]

    /// The name of the file of this program.
    var fileName: String { testDescription.replacing(#/[^A-Za-z0-9]+/#, with: "-") + ".swift" }

    /// The source file.
    var program: String {
        (["RxNetworking"] + imports).map { "import \($0)\n" }.joined() + """
            private func use(_ client: Client, _ search: Signal<String>, _ session: Session) \(isAsync ? "async throws " : ""){
            \(code)
            }

            """
    }
}
