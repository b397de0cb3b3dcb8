import RxTesting
public import Testing

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
