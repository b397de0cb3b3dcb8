import Foundation
import HTTPTypes
import RxHTTP
import RxLite
import RxTesting
import Testing

@testable import RxClient

/// The shutdown of a client.
@Suite struct ShutDownTests {
    private let clock = VirtualScheduler()

    private func client(_ configure: (inout ClientConfiguration) -> Void = { _ in }) -> Client {
        var configuration = ClientConfiguration(baseURL: "https://shop.test")
        configure(&configuration)
        let transport = ScriptedTransport(
            on: clock,
            [
                .when(.get, "/slow", .json("[]", after: .seconds(5))),
                .when(.get, "/stall", .stall),
                .when(.get, "/private", .status(.unauthorized, after: .seconds(1)), .json("[]")),
                .when(.post, "/login", .json(#"{"token": "new"}"#)),
                .when(nil, "/raw", .bytes([1], after: .seconds(4))),
                .when(nil, "/endless", .stall),
            ])
        return Client(configuration: configuration, transport: transport)
    }

    @Test func withoutRequestsItEndsAtOnce() throws {
        let end = Recorder(client().shutDown(within: .seconds(10)), on: clock)
        try clock.advance(by: .zero)
        #expect(end.isFinished)
    }

    @Test func runningRequestsEndAndNewOnesAreRefused() throws {
        let client = client()
        let running = Recorder(client.get("/slow"), on: clock)
        let end = Recorder(client.shutDown(within: .seconds(10)), on: clock)
        let late = Recorder(client.get("/slow"), on: clock)
        let request = Request(url: URL(string: "https://shop.test/raw")!)
        let raw = Recorder(client.exchange(request), on: clock)
        let stream = Recorder(client.stream(.get("/slow")), on: clock)
        try clock.advance(by: .seconds(4))
        #expect(late.failure?.code == .shutDown && late.failure?.isUnsent == true)
        #expect(raw.failure?.code == .shutDown)
        #expect(stream.failure?.code == .shutDown)
        #expect(!end.isFinished && running.values.isEmpty)
        try clock.advance(by: .seconds(1))
        #expect(end.isFinished && running.values.count == 1)
    }

    @Test func theLimitCancelsTheRest() throws {
        let client = client()
        let running = Recorder(client.get("/stall"), on: clock)
        let end = Recorder(client.shutDown(within: .seconds(10)), on: clock)
        try clock.advance(by: .milliseconds(9_999))
        #expect(!end.isFinished && running.failure == nil)
        try clock.advance(by: .milliseconds(1))
        #expect(end.isFinished && running.failure?.code == .cancelled)
    }

    @Test func rawRequestsAreAwaitedUpToTheLimit() throws {
        let client = client()
        func send(_ path: String) -> Recorder<TransferEvent, NetworkError> {
            Recorder(client.exchange(Request(url: URL(string: "https://shop.test" + path)!)), on: clock)
        }
        let first = send("/raw")
        let end = Recorder(client.shutDown(within: .seconds(10)), on: clock)
        try clock.advance(by: .seconds(3))
        #expect(!end.isFinished)
        try clock.advance(by: .seconds(1))
        #expect(end.isFinished && first.isFinished)

        let other = self.client()
        let endless = Recorder(
            other.exchange(Request(url: URL(string: "https://shop.test/endless")!)), on: clock)
        let otherEnd = Recorder(other.shutDown(within: .seconds(10)), on: clock)
        try clock.advance(by: .seconds(10))
        #expect(otherEnd.isFinished && !endless.isFinished)
    }

    @Test func aLoginForRunningRequestsIsAdmitted() throws {
        let holder = Holder()
        let session = Session(credential: Credential(token: "old")) {
            holder.client!.post("/login").map { _ in Credential(token: "new") }
        }
        let client = client { $0.session = session }
        holder.client = client
        let running = Recorder(client.get("/private"), on: clock)
        let end = Recorder(client.shutDown(within: .seconds(10)), on: clock)
        try clock.run()
        #expect(running.values.count == 1)
        #expect(end.isFinished)
        holder.client = nil
    }

    @Test func cancellingTheShutdownCancelsTheRequests() throws {
        let client = client()
        let running = Recorder(client.get("/stall"), on: clock)
        let end = Recorder(client.shutDown(within: .seconds(10)), on: clock)
        try clock.advance(by: .seconds(1))
        end.cancel()
        #expect(running.failure?.code == .cancelled)
        let late = Recorder(client.get("/slow"), on: clock)
        try clock.run()
        #expect(late.failure?.code == .shutDown)
    }

    private final class Holder: @unchecked Sendable {
        // Unchecked: used on the test's thread, which runs the virtual time.
        var client: Client?
    }
}
