import Foundation
import HTTPTypes
import RxHTTP
import RxLite
import RxSimulation
import RxTesting
import Testing

@Suite struct CassetteTransportTests {
    private let clock = VirtualScheduler()
    private let folder = FileManager.default.temporaryDirectory.appending(path: "cassettes-\(UUID())")

    private func network() -> ScriptedTransport {
        ScriptedTransport(on: clock, [.when(.get, "/*", .json("[1]"), .json("[2]"), .json("[3]"))])
    }

    private func answers(_ paths: [String], by transport: CassetteTransport) throws -> [String] {
        try paths.map { path in
            let request = Request(url: try #require(URL(string: "https://a.test/\(path)")))
            let events = try RecordedShop.events(of: request, by: transport, on: clock)
            return events.first { $0.contains("chunk") }.map { String($0.suffix(3)) } ?? "none"
        }
    }

    /// A cassette is recorded, replayed, and completed.
    @Test func modes() throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        let path = folder.appending(path: "a.har").path
        #expect(throws: FixtureError.self) {
            try CassetteTransport(path, mode: .replay, on: clock, network: self.network())
        }
        let network = network()
        let record = try CassetteTransport(path, mode: .record, on: clock, network: network)
        #expect(try answers(["x", "y"], by: record) == ["[1]", "[2]"])
        #expect(!FileManager.default.fileExists(atPath: path))
        try record.finish()

        let replay = try CassetteTransport(path, mode: .replay, on: clock, network: network)
        #expect(try answers(["y", "z"], by: replay) == ["[2]", "none"])
        #expect(throws: ReplayMismatch.self) { try replay.finish() }
        #expect(network.requests.count == 2)

        let before = try Data(contentsOf: URL(filePath: path))
        let idle = try CassetteTransport(path, mode: .replayOrRecord, on: clock, network: network)
        #expect(try answers(["x"], by: idle) == ["[1]"])
        try idle.finish()
        #expect(try Data(contentsOf: URL(filePath: path)) == before)

        let both = try CassetteTransport(path, mode: .replayOrRecord, on: clock, network: network)
        #expect(try answers(["x", "z", "y"], by: both) == ["[1]", "[3]", "[2]"])
        #expect(network.requests.count == 3)
        try both.finish()
        let whole = try CassetteTransport(path, mode: .replay, on: clock, network: network)
        #expect(try answers(["x", "y", "z"], by: whole) == ["[1]", "[2]", "[3]"])
        try whole.finish()

        let direct = try CassetteTransport(path, mode: .passthrough, on: clock, network: network)
        #expect(try answers(["q"], by: direct) == ["[3]"])
        try direct.finish()
        #expect(try Cassette(contentsOf: path).exchanges.count == 3)
    }

    /// The environment selects the mode, and CI refuses to record.
    @Test(
        arguments: [
            ([:], .replay), (["RX_CASSETTES": ""], .replay), (["RX_CASSETTES": "record"], .record),
            (["RX_CASSETTES": "replayOrRecord", "CI": "false"], .replayOrRecord),
            (["RX_CASSETTES": "record", "CI": "true"], nil),
            (["RX_CASSETTES": "replayOrRecord", "CI": "1"], nil),
            (["RX_CASSETTES": "replay", "CI": "true"], .replay),
            (["RX_CASSETTES": "passthrough", "CI": "1"], .passthrough),
            (["RX_CASSETTES": "erase"], nil),
        ] as [([String: String], CassetteMode?)])
    func environment(variables: [String: String], mode: CassetteMode?) throws {
        guard let mode else {
            #expect(throws: FixtureError.self) { try CassetteMode.fromEnvironment(variables) }
            return
        }
        #expect(try CassetteMode.fromEnvironment(variables) == mode)
    }

    /// A placeholder of the cassette is not sent to a server.
    @Test func placeholdersStay() throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        let path = folder.appending(path: "a.har").path
        let network = network()
        let record = try CassetteTransport(path, mode: .record, on: clock, network: network)
        _ = try answers(["x?token=abc"], by: record)
        try record.finish()
        let both = try CassetteTransport(path, mode: .replayOrRecord, on: clock, network: network)
        let request = Request(url: try #require(URL(string: "https://a.test/y?token=secret-1")))
        let events = try RecordedShop.events(of: request, by: both, on: clock)
        #expect(
            events.first?.contains("the request contains secret-1 of the cassette") == true, "\(events)")
        #expect(network.requests.count == 1)
    }

    /// New exchanges have no place in the recorded order.
    @Test func recordedOrderIsComplete() {
        var rules = ReplayRules()
        rules.keepsOrder = true
        let error = #expect(throws: FixtureError.self) {
            try CassetteTransport(
                folder.appending(path: "a.har").path, mode: .replayOrRecord, on: clock, rules: rules,
                network: self.network())
        }
        #expect(error?.path == "ReplayRules.keepsOrder")
    }

    /// A transport with a scheduler for each origin, and with connections.
    private struct Switching: Transport {
        let scheduler: any Scheduler
        let other: VirtualScheduler
        let origin: Origin
        func scheduler(for origin: Origin?) -> any Scheduler { origin == nil ? scheduler : other }
        var connections: Observable<ConnectionEvent, Never> {
            .just(ConnectionEvent(.opened, of: 7, to: origin))
        }
        func send(_ request: Request) -> Observable<TransferEvent, NetworkError> { .never() }
    }

    /// A transport around another one has its schedulers and its connections.
    @Test func wrapping() throws {
        let url = try #require(URL(string: "https://a.test/"))
        let origin = try #require(Origin(url))
        let network = Switching(scheduler: clock, other: VirtualScheduler(), origin: origin)
        let cassette = try CassetteTransport(
            folder.appending(path: "a.har").path, mode: .record, on: clock, network: network)
        for transport in [RecordingTransport(network), cassette] as [any Transport] {
            #expect(transport.scheduler(for: origin) as? VirtualScheduler === network.other)
            #expect(transport.scheduler(for: nil) as? VirtualScheduler === clock)
            #expect(Recorder(transport.connections, on: clock).values.map(\.connection) == [7])
        }
    }
}
