import RxHTTP
import TestServers
import Testing

/// Redirects without a final response, over sockets.
@Suite(.timeLimit(.minutes(1))) struct RedirectLoopTests {
    @Test(arguments: ["/loop", "/ping", "/deeper/"])
    func endsAtTheLimit(path: String) async throws {
        let server = try RawServer { request in
            let target =
                switch request.target {
                case "/ping": "/pong"
                case "/pong": "/ping"
                case "/loop": "/loop"
                case "/well": ""
                default: request.target + "x"
                }
            return target.isEmpty
                ? [.respond(body: "well")] : [.respond(302, ["Location": target], body: "moved")]
        }
        try await withTransport { transport in
            let request = try Request.to(server.baseURL + path)
            let log = try await Recording(transport.send(request, following: RedirectPolicy())).ended()
            #expect(log.error?.code == .tooManyRedirects)
            #expect(log.error?.status == nil)
            #expect(log.error?.isUnsent == false)
            #expect(log.error?.requestID == request.id)
            #expect(log.ends.count == 1)
            #expect(log.afterEnd == 0)
            #expect(log.kinds.count { $0 == "redirected" } == 1 && !log.kinds.contains("head"))
            #expect(try await transport.get(server.baseURL + "/well").text == "well")
        }
        #expect(server.record.requests.count == 12)
    }
}
