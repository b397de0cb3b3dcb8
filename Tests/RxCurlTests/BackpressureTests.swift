import HTTPTypes
import RxCurl
import RxHTTP
import RxLite
import RxLoop
import Synchronization
import TestServers
import Testing

#if canImport(Glibc)
import Glibc
#elseif canImport(Darwin)
import Darwin
#endif

/// A paused subscriber stops the server, and loses nothing.
@Suite(.timeLimit(.minutes(1))) struct BackpressureTests {
    /// More than the socket buffers of both sides can hold.
    private static let bound = 48 << 20
    private static let block = NginxServer.large
    private static let total = 4 * block.count

    /// Sends 64 MiB on the first connection and small responses on all others.
    private static func flood(after gate: Gate) throws -> RawServer {
        let head = "HTTP/1.1 200 OK\r\nContent-Length: \(total)\r\n\r\n"
        return try RawServer([
            [.readRequest, .wait(gate), .send(head), .sendRepeatedly(block, times: 4)],
            [.readRequest]
                + [[RawServer.Step]](repeating: [.respond(body: "ok"), .readRequest], count: 200)
                .joined(),
        ])
    }

    /// The server has filled the buffers and waits, while other work runs on the loop.
    private static func expectStandstill(_ server: RawServer, _ transport: CurlTransport) async throws {
        _ = try await server.until { $0.connections[0].sendStalls > 0 ? true : nil }
        for _ in 0..<100 { #expect(try await transport.get(server.baseURL).text == "ok") }
        #expect(server.record.connections[0].bytesSent < bound)
        #expect(server.record.connections[0].end == nil)
    }

    @Test func aPausedSubscriberStopsTheServerAndThenGetsEverything() async throws {
        let gate = try Gate()
        let server = try Self.flood(after: gate)
        try await withTransport { transport in
            let hasPaused = Atomic(false)
            let recording = Recording(transport.send(try .to(server.baseURL))) { event, subscription in
                guard case .chunk = event, !hasPaused.exchange(true, ordering: .relaxed) else { return }
                subscription.pause()
            }
            gate.open()
            _ = try await recording.until { $0.chunks > 0 ? true : nil }
            try await Self.expectStandstill(server, transport)
            #expect(recording.log.chunks == 1)
            recording.resume()
            let log = try await recording.ended()
            #expect(log.kinds == ["head", "chunk", "finished"])
            #expect(Bytes(log.body) == Bytes(Self.block + Self.block + Self.block + Self.block))
        }
    }

    @Test func aLoopThatDoesNotTakeStopsTheServer() async throws {
        let gate = try Gate()
        let server = try Self.flood(after: gate)
        try await withTransport { transport in
            let events = transport.send(try .to(server.baseURL)).values(buffering: .suspend(high: 4, low: 1))
            let iterator = events.makeAsyncIterator()
            gate.open()
            guard case .head = try await iterator.next() else { return #expect(Bool(false), "no head") }
            try await Self.expectStandstill(server, transport)
            var count = 0
            var hasFinished = false
            while let event = try await iterator.next() {
                switch event {
                case .chunk(let bytes): count += bytes.count
                case .finished: hasFinished = true
                default: Issue.record("\(event)")
                }
            }
            #expect(count == Self.total)
            #expect(hasFinished)
        }
    }

    /// The subscriber has another scheduler, which is busy: the body must not pile up on the way to it.
    @Test func aSubscriberOnABusySchedulerStopsTheServer() async throws {
        let gate = try Gate()
        let server = try Self.flood(after: gate)
        let busy = EventLoop(name: "busy")
        defer { busy.shutDown() }
        try await withTransport { transport in
            let request = try Request.to(server.baseURL)
            let isHeld = Atomic(false)
            let mayContinue = Atomic(false)
            defer { mayContinue.store(true, ordering: .releasing) }
            let count = Atomic(0)
            let stream = Observable<Int, NetworkError>.just(1).subscribe(on: busy)
                .flatMap { _ in transport.send(request) }
                .handleEvents(onNext: { event in
                    guard case .chunk(let bytes) = event else { return }
                    count.add(bytes.count, ordering: .relaxed)
                    isHeld.store(true, ordering: .releasing)
                    while !mayContinue.load(ordering: .acquiring) { sched_yield() }
                })
            async let end = stream.ignoreElements().collect().value()
            gate.open()
            while !isHeld.load(ordering: .acquiring) { await Task.yield() }
            try await Self.expectStandstill(server, transport)
            mayContinue.store(true, ordering: .releasing)
            _ = try await end
            #expect(count.load(ordering: .relaxed) == Self.total)
        }
    }

    @Test func aSubscriberElsewhereThatLeavesClosesTheConnection() async throws {
        let gate = try Gate()
        let server = try Self.flood(after: gate)
        let other = EventLoop(name: "other")
        defer { other.shutDown() }
        try await withTransport { transport in
            let request = try Request.to(server.baseURL)
            let stream = Observable<Int, NetworkError>.just(1).subscribe(on: other)
                .flatMap { _ in transport.send(request) }
            gate.open()
            _ = try await stream.filter { if case .chunk = $0 { true } else { false } }.value()
            // A reset if bytes were left to read, which depends on the moment of the cancel.
            let end = try await server.connectionEnded(0)
            #expect(end == .clientReset || end == .clientClosed)
        }
    }

    @Test func cancellingWhilePausedClosesTheConnection() async throws {
        let gate = try Gate()
        let server = try Self.flood(after: gate)
        try await withTransport { transport in
            let recording = Recording(transport.send(try .to(server.baseURL))) { event, subscription in
                if case .chunk = event { subscription.pause() }
            }
            gate.open()
            _ = try await recording.until { $0.chunks > 0 ? true : nil }
            _ = try await server.until { $0.connections[0].sendStalls > 0 ? true : nil }
            recording.cancel()
            #expect(try await server.connectionEnded(0) == .clientReset)
            #expect(try await transport.get(server.baseURL).text == "ok")
            #expect(recording.log.kinds == ["head", "chunk"])
            #expect(recording.log.ends.isEmpty)
        }
    }

    @Test(arguments: ["head", "chunk"])
    func aPauseAtAnEventHoldsTheNextBack(kind: String) async throws {
        let server = try RawServer { _ in [.respond(body: "whole")] }
        try await withTransport { transport in
            let recording = Recording(transport.send(try .to(server.baseURL))) { event, subscription in
                switch event {
                case .head where kind == "head": subscription.pause()
                case .chunk where kind == "chunk": subscription.pause()
                default: break
                }
            }
            _ = try await recording.until { $0.kinds.last == kind ? true : nil }
            // By then the loop has done the work that the first response left.
            for _ in 0..<20 { #expect(try await transport.get(server.baseURL).text == "whole") }
            #expect(recording.log.kinds.last == kind)
            #expect(recording.log.ends.isEmpty)
            recording.resume()
            let log = try await recording.ended()
            #expect(log.kinds == ["head", "chunk", "finished"])
            #expect(log.body == Array("whole".utf8))
        }
    }

    @Test(arguments: ["/large", "/text"])
    func stormsOfPausingLoseNothing(target: String) async throws {
        let server = try NginxServer.shared()
        try await withTransport { transport in
            let recording = Recording(transport.send(try .to(server.baseURL + target))) { _, subscription in
                subscription.pause()
                subscription.resume()
            }
            let storms = try (0..<2).map { _ in
                try JoinableThread {
                    // No further ahead of the loop than that.
                    let slots = Slots(4)
                    while !recording.hasEnded {
                        slots.take()
                        recording.pause()
                        recording.resume()
                        transport.loop.schedule { slots.give() }
                    }
                }
            }
            let log = try await recording.ended()
            for storm in storms { storm.join() }
            #expect(log.kinds == ["head", "chunk", "finished"])
            let whole = target == "/text" ? Array(NginxServer.text.utf8) : NginxServer.large
            #expect(Bytes(log.body) == Bytes(whole))
            #expect(recording.log.ends.count == 1)
            #expect(recording.log.afterEnd == 0)
        }
    }

    /// The loop cannot tell an idle connection from one whose transfer is paused.
    @Test func aResetDuringAPauseOnAReusedConnectionIsNotTakenForTheEnd() async throws {
        let (more, reset) = (try Gate(), try Gate())
        let head = "HTTP/1.1 200 OK\r\n\r\nsome"
        let server = try RawServer([
            [
                .readRequest, .respond(body: "first"), .readRequest, .send(head),
                .wait(more), .send("more"), .wait(reset), .reset,
            ]
        ])
        try await withTransport { transport in
            let first = try await transport.get(server.baseURL)
            let recording = Recording(transport.send(try .to(server.baseURL))) { event, subscription in
                if case .chunk = event { subscription.pause() }
            }
            let sent = try await recording.until { $0.chunks > 0 ? true : nil }
            #expect(sent && first.text == "first")
            let before = server.record.connections[0].bytesSent
            more.open()
            // The head may or may not have been counted by then.
            let sizes = [before + 4, before + head.utf8.count + 4]
            _ = try await server.until { sizes.contains($0.connections[0].bytesSent) ? true : nil }
            await transport.loop.poll()
            reset.open()
            _ = try await server.connectionEnded(0)
            await transport.loop.poll()
            recording.resume()
            _ = try await recording.until { $0.chunks == 2 ? true : nil }
            recording.resume()
            let log = try await recording.ended()
            #expect(String(decoding: log.body, as: UTF8.self) == "somemore")
            #expect(log.error?.code == .connectionLost)
        }
    }

    @Test func aFailureReachesAPausedSubscriber() async throws {
        let gate = try Gate()
        let server = try RawServer([
            [
                .readRequest, .send("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nsome"), .wait(gate),
                .reset,
            ], [.readRequest, .respond(body: "ok")],
        ])
        try await withTransport { transport in
            let recording = Recording(transport.send(try .to(server.baseURL))) { event, subscription in
                if case .chunk = event { subscription.pause() }
            }
            _ = try await recording.until { $0.chunks > 0 ? true : nil }
            gate.open()
            _ = try await server.connectionEnded(0)
            #expect(try await transport.get(server.baseURL).text == "ok")
            recording.resume()
            let log = try await recording.ended()
            #expect(log.error?.code == .connectionLost)
            #expect(log.error?.head?.status == .ok)
        }
    }
}
