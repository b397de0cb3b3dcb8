import RxHTTP
import TestServers
import Testing

/// Redirects are followed at their heads, over sockets.
@Suite(.timeLimit(.minutes(1))) struct RedirectBodyTests {
    /// Without a length the body lasts as long as the connection, which the server keeps.
    @Test(arguments: ["", "Content-Length: 100\r\n", "Transfer-Encoding: chunked\r\n"])
    func aBodyThatDoesNotComeIsNotWaitedFor(framing: String) async throws {
        let server = try RawServer { request in
            guard request.target == "/1" else { return [.respond(body: "well")] }
            return [.send("HTTP/1.1 302 Found\r\nLocation: /2\r\n\(framing)\r\n"), .waitForClientClose]
        }
        try await withTransport { transport in
            let request = try Request.to(server.baseURL + "/1")
            let log = try await Recording(transport.send(request, following: RedirectPolicy())).ended()
            #expect(log.error == nil)
            #expect(log.kinds == ["redirected", "head", "chunk", "finished"])
            #expect(log.body == Array("well".utf8))
        }
        #expect(server.record.requests.map(\.target) == ["/1", "/2"])
    }

    @Test func theBytesOfALocationAreSent() async throws {
        let targets = ["/1", "/%", "/%zz?%=%41", "/%E9%"]
        let server = try RawServer { request in
            guard let index = targets.firstIndex(of: request.target) else { return [.respond(404)] }
            guard index + 1 < targets.count else { return [.respond(body: "well")] }
            return [.respond(302, ["Location": targets[index + 1]])]
        }
        try await withTransport { transport in
            let request = try Request.to(server.baseURL + "/1")
            let log = try await Recording(transport.send(request, following: RedirectPolicy())).ended()
            #expect(log.body == Array("well".utf8))
        }
        #expect(server.record.requests.map(\.target) == targets)
    }

    @Test func aBodyThatCameWithTheHeadLeavesTheConnectionForTheNext() async throws {
        let server = try RawServer { request in
            request.target == "/9"
                ? [.respond(body: "well")]
                : [
                    .respond(
                        302, ["Location": "/\((Int(request.target.dropFirst()) ?? 0) + 1)"], body: "moved")
                ]
        }
        try await withTransport { transport in
            let request = try Request.to(server.baseURL + "/1")
            let log = try await Recording(transport.send(request, following: RedirectPolicy())).ended()
            #expect(log.body == Array("well".utf8))
        }
        #expect(server.record.requests.count == 9)
        #expect(server.record.connections.count == 1)
    }
}
