import RxHTTP
import RxLite
import RxLoop
import TestServers
import Testing

@testable import RxCurl

/// A body that is refused while it is delivered after a pause, inside `curl_easy_pause`.
@Suite(.timeLimit(.minutes(1))) struct PausedRefusalTests {
    @Test func theTransferEndsAndItsHandleIsNotUsedAgain() async throws {
        let bomb = Gzip.zeros(count: 100 << 20)
        let head = "HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: \(bomb.count)\r\n\r\n"
        let server = try RawServer([
            [.readRequest, .send(Array(head.utf8) + bomb), .waitForClientClose],
            [.readRequest, .respond(body: "well"), .readRequest, .respond(body: "well")],
        ])
        try await withTransport { transport in
            let recording = Recording(transport.send(try .to(server.baseURL))) { event, subscription in
                if case .head = event { subscription.pause() }
            }
            while await transport.loop.run({ transport.multi.running.receivePausedCount }) == 0 {}
            recording.resume()
            let log = try await recording.ended()
            #expect(log.error?.code == .tooLarge)
            #expect(log.ends.count == 1)
            #expect(await transport.loop.run { transport.multi.pool.take() == nil })
            for _ in 0..<2 { #expect(try await transport.get(server.baseURL).text == "well") }
            #expect(await transport.loop.run { transport.multi.running.receivePausedCount } == 0)
        }
        #expect(server.record.connections.count == 2)
    }
}
