public import RxLite
public import RxTesting
public import Testing

/// Expects that a stream emits the events of a diagram, and records an issue with both diagrams unless it does.
///
/// ```swift
/// let clock = VirtualScheduler()
/// let typed: MarbleSource<String, Never> = try clock.hot("-a-b-----c|")
/// expect(typed.observable.debounce(.milliseconds(3)), emits: "------b---(c|)", on: clock)
/// ```
///
/// The function subscribes, advances the clock by the time that the diagram takes, and leaves. An issue shows the
/// expected and the actual stream, one above the other:
///
/// ```
/// the streams differ at 0.005 seconds
/// expected  --a--b-|
/// actual    --a--c-|
///                ^
/// ```
///
/// - Parameters:
///   - stream: the stream, on the clock.
///   - marbles: the diagram; for the notation see ``RxTesting/VirtualScheduler/cold(_:values:error:frame:)``.
///   - values: the values of the letters. Letters without a value stand for themselves if `Element` is `String`.
///   - error: the error of `#`. Errors are equal if they print the same.
///   - frame: the time of one character. Default 1 ms.
///   - clock: the clock, which must not be advancing.
///   - sourceLocation: the place of the issue. Default the caller's.
public func expect<Element: Equatable & Sendable, Failure: Error>(
    _ stream: Observable<Element, Failure>, emits marbles: String, values: [Character: Element] = [:],
    error: Failure? = nil, frame: Duration = .milliseconds(1), on clock: VirtualScheduler,
    sourceLocation: SourceLocation = #_sourceLocation
) {
    let recorder = Recorder(stream, on: clock)
    do {
        let end = clock.now + (try MarbleEvent<Element, Failure>.duration(of: marbles, frame: frame))
        // An event at the end is behind the diagram.
        try clock.advance(to: end - .nanoseconds(1))
        recorder.cancel()
        try clock.advance(to: end)
    } catch {
        recorder.cancel()
        Issue.record(Comment(rawValue: "\(error)"), sourceLocation: sourceLocation)
        return
    }
    expect(
        recorder, emitted: marbles, values: values, error: error, frame: frame, sourceLocation: sourceLocation
    )
}

/// Expects that a recorder has recorded the events of a diagram, and records an issue with both diagrams unless it
/// has. For several streams on one clock, which the test advances.
///
/// For the parameters see ``expect(_:emits:values:error:frame:on:sourceLocation:)``.
public func expect<Element: Equatable & Sendable, Failure: Error>(
    _ recorder: Recorder<Element, Failure>, emitted marbles: String, values: [Character: Element] = [:],
    error: Failure? = nil, frame: Duration = .milliseconds(1),
    sourceLocation: SourceLocation = #_sourceLocation
) {
    do {
        let mismatch = try recorder.mismatch(with: marbles, values: values, error: error, frame: frame)
        guard let mismatch else { return }
        Issue.record(Comment(rawValue: "\(mismatch)"), sourceLocation: sourceLocation)
    } catch {
        Issue.record(Comment(rawValue: "\(error)"), sourceLocation: sourceLocation)
    }
}

/// Requires that the test uses every rule of its scripted transports, so that a request that is no longer sent fails
/// the test.
///
/// ```swift
/// @Test(.usesEveryRule) func theTokenIsRenewedOnce() throws {
///     let transport = ScriptedTransport(
///         on: clock,
///         [
///             .when(.get, "/cart", .status(.unauthorized), .json("{}")),
///             .when(.post, "/login", .json(#"{"token": "t"}"#)),
///         ])
///     let cart = Recorder(client(transport).get("/cart"), on: clock)
///     try clock.run()
///     #expect(cart.values.count == 1)
/// }
/// ```
///
/// It counts the transports that the test makes in its own task, in child tasks and in the initializer of its suite. At
/// the end it records an issue that names each rule without a request, unless the test has thrown an error:
///
/// ```
/// no request used these rules of the scripted transport:
///   POST /login
/// ```
///
/// As a trait of a suite it applies to each test in it.
public struct RequiredRulesTrait: TestTrait, SuiteTrait, TestScoping {
    /// True: the trait of a suite applies to each test of the suite.
    public var isRecursive: Bool { true }

    /// Runs the test, then checks the rules.
    public func provideScope(
        for test: Test, testCase: Test.Case?, performing function: @Sendable () async throws -> Void
    ) async throws {
        let rules = RequiredRules()
        try await RequiredRules.$current.withValue(rules, operation: function)
        guard !rules.unused.isEmpty else { return }
        let names = rules.unused.map { "\n  \($0)" }.joined()
        Issue.record(
            Comment(rawValue: "no request used these rules of the scripted transport:\(names)"),
            sourceLocation: test.sourceLocation)
    }
}

extension Trait where Self == RequiredRulesTrait {
    /// Requires that the test uses every rule of its scripted transports.
    public static var usesEveryRule: Self { RequiredRulesTrait() }
}
