import Foundation
import Testing

/// The compiler's messages for common mistakes name the fix, or are explained in the article "What the compiler says".
@Suite(.enabled(if: isPlainBuild)) struct MistakeTests {
    /// The messages by file: one run of the compiler for all mistakes that it can find together.
    private static let messages = Task {
        try await messages(for: Mistake.all, .typechecked)
            .merging(messages(for: Mistake.isolation, .analyzed)) { one, other in one + other }
    }

    @Test(arguments: Mistake.all + Mistake.isolation)
    func theMessageIsTheExpectedOne(_ mistake: Mistake) async throws {
        let messages = try #require(
            try await Self.messages.value[mistake.fileName], "the compiler accepts:\n\(mistake.code)")
        for expected in mistake.messages {
            #expect(messages.contains { $0.contains(expected) }, "\(messages)")
        }
    }

    @Test func namesAreUnique() {
        let names = (Mistake.all + Mistake.isolation).map(\.fileName)
        #expect(Set(names).count == names.count)
    }

    @Test(arguments: [
        #"_ = Client(configuration: ClientConfiguration(baseURL: "https://a.test"))"#,
        #"client.get("/a", query: ["a": 1]).subscribe()"#,
        #"client.post("/a", .json(NewGoods(name: "tea", price: 1))).subscribe()"#,
        #"client.post("/a", ["a": 1]).subscribe()"#,
        // No message: the article warns of it.
        """
        struct A: Endpoint {
            typealias Output = Goods
            let path = "/a"
            let method = "POST"
            let parameters = ["a": 1]
            let headers = ["X-App": "shop"]
        }
        client.request(A()).subscribe()
        """,
    ])
    func itCompiles(_ code: String) async throws {
        let compiler = try Compiler()
        let program = Mistake("right", code)
        try await compiler.typecheck([
            compiler.file(program.program, named: program.fileName), Self.scenery,
        ])
    }

    /// Types that RxLite declares as unavailable do not get in the way of an app that still uses the other library.
    @Test func aTypeOfAnotherModuleTakesPrecedence() async throws {
        let compiler = try Compiler()
        let other = """
            public final class DisposeBag { public init() {} }
            public final class PassthroughSubject<Output, Failure: Error> {
                public init() {}
                public func send(_ value: Output) {}
            }
            """
        try await compiler.module("Other", of: [compiler.file(other, named: "Other.swift")])
        let program = """
            import Other
            import RxNetworking

            let bag = DisposeBag()
            func use(_ taps: PassthroughSubject<Int, Never>, _ search: Signal<Int>) {
                taps.send(1)
                search.send(1)
            }
            """
        try await compiler.typecheck([compiler.file(program, named: "Both.swift")])
    }

    @Test func messagesAreRead() {
        let messages = Compiler.messages(
            in: """
                /tmp/a/One.swift:4:22: error: 'sink' is unavailable: write 'subscribe'
                4 |     a.sink()  // error: not this
                  |       `- error: 'sink' is unavailable: write 'subscribe'
                /work/Sources/RxLite/Sink.swift:35:17: note: 'sink' has been marked here
                /tmp/a/Two.swift:1:1: warning: result is unused

                """)
        #expect(
            messages == [
                "One.swift": ["'sink' is unavailable: write 'subscribe'", "'sink' has been marked here"],
                "Two.swift": ["result is unused"],
            ])
    }

    private static let scenery = SampleTests.root.appending(path: "Tests/SurfaceTests/Samples/Scenery.swift")
        .path

    private static func messages(
        for mistakes: [Mistake], _ stage: Compiler.Stage
    ) async throws -> [String: [String]] {
        let compiler = try Compiler()
        let files = try mistakes.map { try compiler.file($0.program, named: $0.fileName) }
        return try await compiler.messages(for: files + [scenery], stage)
    }
}
