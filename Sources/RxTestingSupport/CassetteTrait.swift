import FoundationEssentials
public import RxTesting
public import Testing

/// Gives a test a cassette, which is stored beside the test.
///
/// ```swift
/// @Test(.cassette("login")) func theCartIsShown() async throws {
///     let cassette = try TestCassette.current
///     let client = Client(
///         configuration: ClientConfiguration(baseURL: "https://shop.test"),
///         transport: try cassette.transport(network: CurlTransport.shared))
///     let cart = try await cassette.values(of: client.get("/cart").decode(Cart.self))
///     #expect(cart.count == 1)
/// }
/// ```
///
/// The file is `Cassettes/login.har` in the folder of the test's source. Tests replay it in virtual time; at the end
/// the test fails unless every exchange was used and nothing else was asked, by the rules of the trait. With
/// `RX_CASSETTES=record swift test --filter theCartIsShown` the test runs against the network and writes the file, unless
/// it throws an error. A test with arguments cannot have one. Where `CI` is set, a test that should record fails. `CassetteMode` lists the modes.
public struct CassetteTrait: TestTrait, TestScoping {
    private let path: String
    private let rules: ReplayRules
    private let environment: [String: String]
    private let sourceLocation: SourceLocation

    init(
        path: String, rules: ReplayRules, environment: [String: String], sourceLocation: SourceLocation
    ) {
        self.path = path
        self.rules = rules
        self.environment = environment
        self.sourceLocation = sourceLocation
    }

    /// Runs the test with its cassette, then checks or writes this.
    public func provideScope(
        for test: Test, testCase: Test.Case?, performing function: @Sendable () async throws -> Void
    ) async throws {
        // Each case would have to use, or would overwrite, the same file.
        guard !test.isParameterized else {
            throw FixtureError(
                .invalid("a test with arguments has several cases, but the cassette is one run"), file: path)
        }
        let mode = try CassetteMode.fromEnvironment(environment)
        let cassette = try TestCassette(path, mode: mode, rules: rules)
        try await TestCassette.$active.withValue(cassette, operation: function)
        do {
            try cassette.finish()
        } catch {
            Issue.record(Comment(rawValue: "\(error)"), sourceLocation: sourceLocation)
        }
    }
}

extension Trait where Self == CassetteTrait {
    /// A cassette for the test: `Cassettes/<name>.har` in the folder of the source file.
    ///
    /// - Parameters:
    ///   - name: the name of the file without its extension.
    ///   - rules: the rules of the replay. Default strict.
    ///   - file: the source file of the test. Default the caller's.
    ///   - sourceLocation: the place of issues about the cassette. Default the caller's.
    public static func cassette(
        _ name: String, rules: ReplayRules = .standard, file: String = #filePath,
        sourceLocation: SourceLocation = #_sourceLocation
    ) -> Self {
        CassetteTrait(
            path: URL(filePath: file).deletingLastPathComponent().appending(path: "Cassettes/\(name).har")
                .path,
            rules: rules, environment: ProcessInfo.processInfo.environment,
            sourceLocation: sourceLocation)
    }
}
