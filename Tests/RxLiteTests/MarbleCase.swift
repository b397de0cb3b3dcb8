import RxLite
import RxTesting
import Testing

struct Lost: Error, Equatable, CustomStringConvertible {
    var description: String { "lost" }
}

/// One row of a table: a stream built from marbles, and the expected marbles.
struct MarbleCase: Sendable, CustomTestStringConvertible {
    typealias Stream = Observable<String, Lost>

    let testDescription: String
    private let expected: String
    private let span: String?
    private let make: @Sendable (VirtualScheduler) throws -> Stream

    init(
        _ name: String, _ expected: String, span: String? = nil,
        _ make: @escaping @Sendable (VirtualScheduler) throws -> Stream
    ) {
        testDescription = "\(name) → \(expected)"
        self.expected = expected
        self.span = span
        self.make = make
    }

    func check() throws {
        let clock = VirtualScheduler()
        let recorder = try Recorder(make(clock), on: clock, span: span.map { try SubscriptionSpan($0) })
        try clock.advance(by: .seconds(60))
        try recorder.expect(expected, error: Lost())
        guard recorder.completion != nil || span != nil else { return }
        #expect(clock.pendingCount == 0, "timers are left")
    }
}

extension VirtualScheduler {
    func cold(_ marbles: String) throws -> Observable<String, Lost> {
        try cold(marbles, error: Lost()).observable
    }

    func coldNever(_ marbles: String) throws -> Observable<String, Never> {
        let source: MarbleSource<String, Never> = try cold(marbles)
        return source.observable
    }

    func hot(_ marbles: String) throws -> Observable<String, Lost> {
        try hot(marbles, error: Lost()).observable
    }
}
