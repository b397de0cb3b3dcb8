import FoundationEssentials
public import RxHTTP
public import RxLite
public import RxSimulation
public import RxTesting
import Synchronization
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
/// the test fails unless every exchange was used and no other request was made, by the rules of the trait. With
/// `RX_CASSETTES=record swift test --filter theCartIsShown` the test runs against the network and writes the file,
/// unless it throws an error. A test with arguments cannot have one. Where `CI` is set, a test that should record
/// fails. `CassetteMode` lists the modes.
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
    ///   - rules: the rules of the replay. Default `ReplayRules.standard`, which is strict.
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

/// The cassette of the running test; see ``CassetteTrait``.
///
/// A test replays in virtual time and records in real time, without a change: ``values(of:)`` advances the clock during
/// a replay, and waits while recording.
///
/// Thread-safe.
public final class TestCassette: Sendable {
    /// The source of the responses.
    public let mode: CassetteMode
    /// The clock of a replay, whose dates begin with the cassette. While recording, nothing runs on it.
    public let clock: VirtualScheduler

    private let path: String
    private let rules: ReplayRules
    private let transports = Mutex<[CassetteTransport]>([])

    @TaskLocal static var active: TestCassette?

    init(_ path: String, mode: CassetteMode, rules: ReplayRules) throws {
        self.path = path
        self.mode = mode
        self.rules = rules
        clock =
            mode == .replay
            ? VirtualScheduler(startingAt: try Cassette(contentsOf: path).startedAt, stepLimit: 10_000_000)
            : VirtualScheduler()
    }

    /// The cassette of the running test.
    ///
    /// - Throws: an error if the test has no ``CassetteTrait``, or the caller is a detached task.
    public static var current: TestCassette {
        get throws {
            guard let active else {
                throw FixtureError(
                    .invalid("the test has no trait .cassette(…)"), path: "TestCassette.current")
            }
            return active
        }
    }

    /// The transport of the test. Call it once for each test.
    ///
    /// - Parameters:
    ///   - replacements: texts to replace in a recording, such as the address of a server on a port that changes.
    ///     Default none.
    ///   - network: sends the requests that are not replayed; made only if the mode needs it.
    /// - Throws: a `FixtureError` if the cassette cannot be read, the mode does not allow the rules, or the transport
    ///   was already made.
    public func transport(
        replacing replacements: [String: String] = [:], network: @autoclosure () -> any Transport
    ) throws -> CassetteTransport {
        let transport = try CassetteTransport(
            path, mode: mode, on: clock, rules: rules, replacing: replacements, network: network())
        return try transports.withLock { transports in
            guard transports.isEmpty else {
                throw FixtureError(.invalid("the transport was made twice"), file: path)
            }
            transports.append(transport)
            return transport
        }
    }

    /// Runs a stream to its end: in virtual time while replaying, otherwise in real time.
    ///
    /// - Returns: its values.
    /// - Throws: the error that the stream ends with; or, if a replay does not end, a `FixtureError`.
    public func values<Element: Sendable, Failure: Error>(
        of stream: Observable<Element, Failure>
    ) async throws -> [Element] {
        guard mode == .replay else {
            var values: [Element] = []
            for try await value in stream { values.append(value) }
            return values
        }
        let recorder = Recorder(stream, on: clock)
        // Other streams of the test, such as an interval, need not end.
        try clock.run { recorder.completion != nil }
        switch recorder.completion {
        case .finished: return recorder.values
        case .failed(let error): throw error
        case nil:
            recorder.cancel()
            throw FixtureError(
                .invalid("a stream did not end after \(recorder.values.count) values"), file: path)
        }
    }

    /// Checks a replay, or writes the recording.
    func finish() throws {
        for transport in transports.withLock({ $0 }) { try transport.finish() }
    }
}
