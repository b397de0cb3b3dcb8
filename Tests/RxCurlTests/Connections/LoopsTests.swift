import FoundationEssentials
import HTTPTypes
import RxClient
import RxHTTP
import RxLite
import RxLoop
import TestServers
import Testing

@testable import RxCurl

/// A transport on two loops.
@Suite(.timeLimit(.minutes(1))) struct LoopsTests {
    private func withLoops<Result>(
        configured configure: (inout CurlTransport.Configuration) -> Void = { _ in },
        _ body: (CurlTransport, [EventLoop]) async throws -> Result
    ) async throws -> Result {
        var configuration = CurlTransport.Configuration()
        configuration.proxy = .none
        configure(&configuration)
        let loops = [EventLoop(name: "first"), EventLoop(name: "second")]
        defer { for loop in loops { loop.shutDown() } }
        return try await body(CurlTransport(loops: loops, configuration: configuration), loops)
    }

    /// The loop on which a stream runs.
    private func place(of scheduler: (any Scheduler)?, in loops: [EventLoop]) -> Int? {
        loops.firstIndex { $0 === scheduler }
    }

    @Test func aRequestGoesWhereAConnectionToItsOriginIsFree() async throws {
        let (server, other) = (try RawServer { _ in [.respond()] }, try RawServer { _ in [.respond()] })
        try await withLoops { transport, loops in
            for _ in 0..<20 {
                _ = try await transport.get(server.baseURL)
                _ = try await transport.get(other.baseURL)
            }
        }
        #expect(server.record.connections.count == 1)
        #expect(other.record.connections.count == 1)
    }

    @Test func aClientsRequestsGoThereToo() async throws {
        let server = try RawServer { _ in [.respond(body: "well")] }
        try await withLoops { transport, _ in
            let client = Client(
                configuration: ClientConfiguration(baseURL: server.baseURL), transport: transport)
            for _ in 0..<20 {
                let answer = try await client.get("/").value()
                #expect(answer.text == "well")
            }
        }
        #expect(server.record.connections.count == 1)
    }

    /// The end of a request is delivered when its loop no longer counts it.
    @Test func aRequestSentFromTheEndOfAnotherGoesWhereThatOneWas() async throws {
        let server = try RawServer { _ in [.respond(body: "well")] }
        try await withLoops { transport, loops in
            let request = try Request.to(server.baseURL)
            let places = Board<[Int?]>([])
            @Sendable func send() {
                transport.send(request).subscribe(onNext: { event in
                    guard case .finished = event else { return }
                    let count = places.update { places in
                        places.append(loops.firstIndex { $0.isCurrent })
                        return places.count
                    }
                    if count < 20 { send() }
                })
            }
            send()
            let all = try await places.until { $0.count == 20 ? $0 : nil }
            #expect(Set(all).count == 1)
            #expect(all.first != .some(nil))
        }
        #expect(server.record.connections.count == 1)
    }

    @Test func whoeverFindsNoFreeConnectionGoesWhereThereIsLessToDo() async throws {
        let gate = try Gate()
        let server = try RawServer { _ in [.wait(gate), .respond()] }
        try await withLoops { transport, loops in
            var places: [Int?] = []
            var recordings: [Recording] = []
            for count in 1...6 {
                let scheduler = transport.scheduler(for: Origin(try Request.to(server.baseURL).url))
                places.append(place(of: scheduler, in: loops))
                recordings.append(Recording(transport.send(try .to(server.baseURL)).subscribe(on: scheduler)))
                _ = try await server.until { $0.requests.count == count ? true : nil }
            }
            for pair in stride(from: 0, to: 6, by: 2) {
                #expect(Set(places[pair..<pair + 2]) == [0, 1])
            }
            gate.open()
            for recording in recordings { #expect(try await recording.ended().error == nil) }
        }
    }

    /// All its events are delivered there, too.
    @Test func aRequestStaysOnTheLoopOfItsSubscription() async throws {
        let server = try RawServer { _ in [.respond(body: "well")] }
        try await withLoops { transport, loops in
            let request = try Request.to(server.baseURL)
            for loop in loops {
                let isHere = try await Observable<Int, NetworkError>.sequence(0..<10).subscribe(on: loop)
                    .flatMap(.concat) { _ in transport.send(request) }
                    .map { _ in loop.ownsCurrentThread }
                    .collect().value()
                #expect(!isHere.isEmpty && isHere.allSatisfy { $0 })
            }
        }
        #expect(server.record.connections.count == 2)
    }

    @Test func limitsHoldOverAllLoops() async throws {
        let gate = try Gate()
        let server = try RawServer { _ in [.wait(gate), .respond()] }
        try await withLoops(configured: { $0.maxConnectionsPerOrigin = 4 }) { transport, _ in
            let recordings = try (0..<20).map { _ in Recording(transport.send(try .to(server.baseURL))) }
            _ = try await server.until { $0.requests.count == 4 ? true : nil }
            gate.open()
            for recording in recordings { #expect(try await recording.ended().error == nil) }
        }
        #expect(server.record.connections.count == 4)
    }

    @Test func shuttingDownEndsWhatIsOnAnyOfThem() async throws {
        let server = try RawServer { _ in [.send("HTTP/1.1 200 OK\r\n\r\nabc"), .waitForClientClose] }
        try await withLoops { transport, loops in
            let recordings = try (0..<8).map { _ in Recording(transport.send(try .to(server.baseURL))) }
            for recording in recordings { _ = try await recording.until { $0.chunks > 0 ? true : nil } }
            transport.shutDown()
            for recording in recordings { #expect(try await recording.ended().error?.code == .shutDown) }
            let late = try await Recording(transport.send(try .to(server.baseURL))).ended()
            #expect(late.error?.code == .shutDown)
        }
    }

    @Test func theOthersGoOnWithoutALoopThatEnded() async throws {
        let server = try RawServer { _ in [.respond(body: "well")] }
        try await withLoops { transport, loops in
            loops[0].shutDown()
            for _ in 0..<20 {
                let answer = try await transport.get(server.baseURL)
                #expect(answer.text == "well")
            }
        }
        #expect(server.record.connections.count == 1)
    }

    @Test func nothingIsCountedTwice() {
        let load = LoopLoad(loops: 2)
        let origin = Origin(URL(string: "http://a.test")!)
        let first = load.enter(0, origin)
        #expect(load.choose(for: origin) { _ in true } == 1)
        var connection = first.connection(isShared: true)
        #expect(connection != nil)
        #expect(load.choose(for: origin) { _ in true } == 0)
        #expect(load.choose(for: origin) { $0 == 1 } == 1)
        #expect(load.choose(for: origin) { _ in false } == nil)
        connection = nil
        #expect(load.choose(for: origin) { _ in true } == 1)
    }
}
