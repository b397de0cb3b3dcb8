import FoundationEssentials
import HTTPTypes
import RxCurl
import RxHTTP
import TestServers
import Testing

/// Failures before a byte of the request has been sent, marked as such.
@Suite(.timeLimit(.minutes(1))) struct UnsentTests {
    /// Fails with the expected error before anything was sent, and the transport remains usable.
    private func expect(
        _ code: NetworkError.Code, _ request: Request, contains text: String = ""
    ) async throws {
        let server = try RawServer([[.readRequest, .respond(body: "well")]])
        let recording = try await withTransport { transport in
            let recording = Recording(transport.send(request))
            _ = try await recording.ended()
            #expect(try await transport.get(server.baseURL).text == "well")
            return recording
        }
        let log = recording.log
        let error = try #require(log.error)
        #expect(error.code == code)
        #expect(error.isUnsent)
        #expect(error.head == nil)
        #expect(error.message.contains(text) || error.details?.contains(text) == true)
        #expect(!error.message.lowercased().contains("curl"))
        #expect((error.curlCode == nil) == (error.details == nil))
        #expect(error.requestID == request.id)
        #expect(log.kinds.isEmpty)
        #expect(log.ends.count == 1)
        #expect(log.afterEnd == 0)
    }

    @Test func aRefusedConnection() async throws {
        let port = try DeadPort(.refusing)
        try await expect(.connect, .to(port.baseURL), contains: "\(port.port)")
    }

    /// The kernel itself reports it for TCP to multicast addresses (ENETUNREACH); nothing leaves the machine.
    @Test(arguments: ["127.255.255.255", "224.0.0.1"])
    func anUnreachableAddress(host: String) async throws {
        try await expect(.connect, .to("http://\(host)/"), contains: host)
    }

    @Test func anUnknownHost() async throws {
        try await expect(.resolve, .to("http://nothing.invalid/"), contains: "nothing.invalid")
    }

    @Test func aConnectionThatIsNotAcceptedInTime() async throws {
        let port = try DeadPort(.full)
        var request = try Request.to(port.baseURL)
        request.timeouts.connect = .milliseconds(100)
        try await expect(.connectTimeout, request)
    }

    @Test func aConnectionThatIsNotAcceptedWithinTheAttempt() async throws {
        let port = try DeadPort(.full)
        var request = try Request.to(port.baseURL)
        request.timeouts.attempt = .milliseconds(100)
        try await expect(.attemptTimeout, request)
    }

    @Test func aTLSHandshakeThatStallsIsPartOfConnecting() async throws {
        let silent = try RawServer([[.stall]])
        var request = try Request.to("https://127.0.0.1:\(silent.port)/", method: .post, body: .text("a"))
        request.timeouts.connect = .milliseconds(100)
        try await expect(.connectTimeout, request)
        #expect(try await silent.connectionEnded(0) == .clientClosed)
    }

    @Test(arguments: [
        [RawServer.Step.closeWithoutReading], [.send("HTTP/1.1 400 Bad\r\n\r\n")],
        [.send([0x15, 3, 3, 0, 2, 2, 40])],
    ])
    func aTLSHandshakeThatFails(steps: [RawServer.Step]) async throws {
        let server = try RawServer([steps])
        // A libcurl with GnuTLS reports a connection that breaks in the handshake like one that breaks before
        // it.
        let isGnuTLS = LibcurlFeatures.running.tlsBackend?.hasPrefix("GnuTLS") == true
        let isBroken = steps.contains { if case .closeWithoutReading = $0 { true } else { false } }
        try await expect(isGnuTLS && isBroken ? .connect : .tls, .to("https://127.0.0.1:\(server.port)/"))
    }

    // MARK: - Invalid requests

    @Test(arguments: [
        "ftp://127.0.0.1", "file:///etc/passwd", "/relative", "http://", "http://:80/", "mailto:a@b",
        "http://127.0.0.1:0/", "http://127.0.0.1:65536/",
    ])
    func anInvalidURL(text: String) async throws {
        let url = try #require(URL(string: text))
        try await expect(.invalidURL, Request(url: url))
    }

    /// libcurl accepts texts of up to 8 MB. A failed connection would be tried again.
    @Test func anOptionThatLibcurlRejects() async throws {
        let log = try await withTransport(configured: {
            $0.networkInterface = String(repeating: "x", count: 9_000_000)
        }) { transport in
            try await Recording(transport.send(try .to("http://127.0.0.1/"))).ended()
        }
        let error = try #require(log.error)
        #expect(error.code == .invalidConfiguration)
        #expect(error.isUnsent)
        #expect(!error.message.lowercased().contains("curl"))
        #expect(error.details?.contains("CURLOPT_INTERFACE") == true)
    }

    @Test(arguments: ["Host", "content-length", "Transfer-Encoding"])
    func aFieldOfTheTransports(name: String) async throws {
        let server = try RawServer([[.readRequest, .respond()]])
        var request = try Request.to(server.baseURL, method: .post, body: .text("body"))
        request.headerFields[try #require(HTTPField.Name(name))] = "1"
        try await expect(.invalidHeader, request, contains: name)
        #expect(server.record.connections.isEmpty)
    }

    @Test(arguments: ["a\r\nEvil: b", "a\nb", "a\rb", "a\0b"])
    func aFieldThatWouldBecomeTwo(value: String) async throws {
        let server = try RawServer([[.readRequest, .respond()]])
        var request = try Request.to(server.baseURL)
        let error = #expect(throws: NetworkError.self) { try request.setField("A", to: value) }
        #expect(error?.code == .invalidHeader)
        // HTTPTypes replaces the value by a harmless one.
        request.headerFields.append(HTTPField(name: try #require(HTTPField.Name("A")), value: value))
        try await withTransport { transport in _ = try await transport.answer(to: request) }
        let received = try await server.nextRequest()
        #expect(received.field("Evil") == nil)
        #expect(received.fields.count { $0.name == "A" } == 1)
    }

    @Test(arguments: ["", "a b", "a:b", "a\r\nb", "ä"])
    func aFieldNameThatIsNone(name: String) async throws {
        var request = try Request.to("http://127.0.0.1/")
        let error = #expect(throws: NetworkError.self) { try request.setField(name, to: "1") }
        #expect(error?.code == .invalidHeader)
    }

    @Test func contentWithHead() async throws {
        let server = try RawServer([[.readRequest, .respond()]])
        try await expect(
            .invalidParameters, .to(server.baseURL, method: .head, body: .text("a")))
        #expect(server.record.connections.isEmpty)
    }

    @Test func whatIsInTheURLCannotBreakTheRequest() async throws {
        let server = try RawServer([[.readRequest, .respond()]])
        let url = try #require(URL(string: server.baseURL + "/a\r\nEvil: b?c d#fragment"))
        try await withTransport { transport in
            _ = try await Recording(transport.send(Request(url: url))).ended()
        }
        for request in server.record.requests {
            #expect(request.field("Evil") == nil)
            #expect(!request.target.contains("fragment"))
        }
    }
}
