import Foundation
import HTTPTypes
import RxClient
import RxHTTP
import RxLite
import RxSimulation
import RxTesting
import Testing

@testable import RxTestingSupport

@Suite struct CassetteTraitTests {
    private struct Goods: Decodable, Sendable, Equatable { let name: String }

    /// One test that replays and records.
    private static func goods(_ network: @autoclosure () -> any Transport) async throws -> [Goods] {
        let cassette = try TestCassette.current
        let client = Client(
            configuration: ClientConfiguration(baseURL: "https://shop.test"),
            transport: try cassette.transport(network: network()))
        return try await cassette.values(of: client.get("/goods/7").decode(Goods.self))
    }

    @Test(.cassette("goods")) func aTestReplaysItsCassette() async throws {
        let goods = try await Self.goods(Unreachable())
        #expect(goods == [Goods(name: "tea")])
        // The recorded response took three seconds, of virtual time.
        #expect(try TestCassette.current.clock.now == .seconds(3))
        #expect(try TestCassette.current.clock.date == Date(timeIntervalSince1970: 784_111_780))
    }

    /// A stream that ends is over while another one goes on.
    @Test func otherStreams() async throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "trait-\(UUID())")
        defer { try? FileManager.default.removeItem(at: folder) }
        try Cassette().write(to: folder.appending(path: "Cassettes/new.har").path)
        try await Self.run([:], folder) {
            let cassette = try TestCassette.current
            let beat = Recorder(
                Observable<Int, Never>.interval(.seconds(1), on: cassette.clock), on: cassette.clock)
            let values = try await cassette.values(
                of: Observable<Void, Never>.timer(.seconds(3), on: cassette.clock).map { 7 })
            #expect(values == [7])
            beat.cancel()
        }
    }

    /// A test with arguments cannot have a cassette.
    @Test(arguments: [1])
    func arguments(_: Int) async throws {
        await #expect(throws: FixtureError.self) {
            try await CassetteTrait.cassette("goods").provideScope(
                for: try #require(Test.current), testCase: nil
            ) {}
        }
    }

    @Test func withoutTheTraitThereIsNoCassette() {
        #expect(throws: FixtureError.self) { try TestCassette.current }
    }

    private struct Unreachable: Transport {
        var scheduler: any Scheduler { VirtualScheduler() }
        func send(_ request: Request) -> Observable<TransferEvent, NetworkError> {
            .fail(NetworkError(.unreachable, "a replay sends nothing"))
        }
    }

    /// Responds at once, wherever it is called.
    private struct AtOnce: Transport {
        let scheduler: any Scheduler = ImmediateScheduler()
        func send(_ request: Request) -> Observable<TransferEvent, NetworkError> {
            .sequence([
                .head(ResponseHead(status: .ok, headerFields: [.contentType: "application/json"])),
                .chunk(Array(#"{"name": "tea"}"#.utf8)), .finished(TransferMetrics()),
            ])
        }
    }

    private final class NoTimer: Cancellable {
        func cancel() {}
    }

    private final class ImmediateScheduler: Scheduler {
        private let queue = DispatchQueue(label: "immediate")
        var now: Duration { .zero }
        var isCurrent: Bool { true }
        func schedule(_ work: @escaping @Sendable () -> Void) { queue.async(execute: work) }
        func schedule(after delay: Duration, _ work: @escaping @Sendable () -> Void) -> any Cancellable {
            schedule(work)
            return NoTimer()
        }
    }

    private static func run(
        _ variables: [String: String], _ folder: URL, _ body: @escaping @Sendable () async throws -> Void
    ) async throws {
        let trait = CassetteTrait(
            path: folder.appending(path: "Cassettes/new.har").path, rules: .standard,
            environment: variables, sourceLocation: #_sourceLocation)
        try await trait.provideScope(for: try #require(Test.current), testCase: nil, performing: body)
    }

    /// A recorded test replays; a test that failed records nothing; CI records nothing.
    @Test func records() async throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "trait-\(UUID())")
        defer { try? FileManager.default.removeItem(at: folder) }
        let recorded = folder.appending(path: "Cassettes/new.har").path
        await #expect(throws: FixtureError.self) { try await Self.run([:], folder) {} }
        await #expect(throws: FixtureError(.recordingInCI)) {
            try await Self.run(["RX_CASSETTES": "record", "CI": "true"], folder) {}
        }
        await #expect(throws: CancellationError.self) {
            try await Self.run(["RX_CASSETTES": "record"], folder) {
                _ = try await Self.goods(AtOnce())
                throw CancellationError()
            }
        }
        #expect(!FileManager.default.fileExists(atPath: recorded))

        for variables in [["RX_CASSETTES": "record"], [:]] {
            try await Self.run(variables, folder) {
                let goods = try await Self.goods(AtOnce())
                #expect(goods == [Goods(name: "tea")])
            }
            #expect(FileManager.default.fileExists(atPath: recorded))
        }
        try await withKnownIssue {
            try await Self.run([:], folder) { _ = try TestCassette.current.transport(network: Unreachable()) }
        } matching: { issue in
            issue.comments.first?.rawValue.contains("1 of 1 exchanges of") == true
        }
    }
}
