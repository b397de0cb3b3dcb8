import RxCurl
import RxHTTP
import RxLite
import RxLoop
import Synchronization
import TestServers
import Testing

/// A host with several addresses of which some refuse. The duration is shown by a comparison: another
/// transfer, whose server stays silent, times out later.
@Suite(.timeLimit(.minutes(1))) struct RefusalTests {
    @Test(arguments: [
        ["127.0.0.2", "127.0.0.3", "127.0.0.4", "127.0.0.1"], ["::1", "127.0.0.2", "127.0.0.3", "127.0.0.1"],
        ["127.0.0.2", "127.0.0.3", "127.0.0.1", "::1"], ["::1", "::1", "::1", "127.0.0.1"],
        ["127.0.0.2", "127.0.0.1"],
    ])
    func theNextAddressIsTriedAtOnce(addresses: [String]) async throws {
        let server = try RawServer { _ in [.respond(body: "here")] }
        try await expectQuickConnection(to: server.port, at: addresses) { stream, _ throws in
            for _ in 0..<2 {
                let log = try await Recording(stream).ended()
                #expect(log.body == Array("here".utf8))
            }
        }
        #expect(server.record.connections.count == 1)
    }

    @Test func manyAtOnce() async throws {
        let server = try RawServer { _ in [.respond(body: "here")] }
        let addresses = ["127.0.0.2", "127.0.0.3", "127.0.0.4", "127.0.0.1"]
        try await expectQuickConnection(to: server.port, at: addresses) { stream, _ throws in
            let recordings = (0..<30).map { _ in Recording(stream) }
            for recording in recordings {
                let log = try await recording.ended()
                #expect(log.body == Array("here".utf8))
            }
        }
    }

    /// The refusal comes only with the second packet of the connection, when the listener is gone.
    @Test func anAddressThatRefusesLate() async throws {
        let port = try DeadPort(.full)
        let number = port.port
        let listening = Mutex(Optional(port))
        let server = try RawServer(host: 2, port: number) { _ in [.respond(body: "here")] }
        try await expectQuickConnection(to: number, at: ["127.0.0.1", "127.0.0.2"]) {
            stream, transport throws in
            let recording = Recording(stream)
            await transport.loop.poll()
            await transport.loop.poll()
            listening.withLock { $0 = nil }
            let log = try await recording.ended()
            #expect(log.body == Array("here".utf8))
        }
        #expect(server.record.connections.count == 1)
    }

    @Test func allRefuse() async throws {
        let port = try DeadPort(.refusing)
        let addresses = ["127.0.0.1", "127.0.0.2", "127.0.0.3", "127.0.0.4", "::1"]
        try await expectQuickConnection(to: port.port, at: addresses) { stream, _ throws in
            let error = try await Recording(stream).ended().error
            #expect(error?.code == .connect)
            #expect(error?.isUnsent == true)
        }
    }

    private func expectQuickConnection(
        to port: UInt16, at addresses: [String],
        _ body: (Observable<TransferEvent, NetworkError>, CurlTransport) async throws -> Void
    ) async throws {
        let host = CurlTransport.HostOverride(host: "some.test", port: Int(port), addresses: addresses)
        let silent = try RawServer { _ in [.stall] }
        let order = Board<[String]>([])
        try await withTransport(configured: { $0.hostOverrides = [host] }) { transport in
            var slow = try Request.to(silent.baseURL)
            slow.timeouts = Timeouts(firstByte: .seconds(40))
            let other = Recording(
                transport.send(slow).handleEvents(onEnd: { _ in order.update { $0.append("other") } }))
            var request = try Request.to("http://some.test:\(port)/")
            request.timeouts = Timeouts(connect: .seconds(90))
            let stream = transport.send(request).handleEvents(onEnd: { _ in
                order.update { $0.append("connected") }
            })
            try await body(stream, transport)
            other.cancel()
        }
        let ends = order.contents
        #expect(ends.prefix { $0 == "connected" }.count == ends.count { $0 == "connected" })
        #expect(ends.first == "connected")
    }
}
