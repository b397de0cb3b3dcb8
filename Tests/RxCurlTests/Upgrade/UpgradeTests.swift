import HTTPTypes
import RxCurl
import RxHTTP
import RxLite
import TestServers
import Testing

/// Requests that change the protocol of their connection.
@Suite(.timeLimit(.minutes(1))) struct UpgradeTests {
    static let switched = "HTTP/1.1 101 Switching Protocols\r\nUpgrade: echo\r\nConnection: Upgrade\r\n\r\n"

    @Test func bytesFlowBothWays() async throws {
        let server = try RawServer([
            [.readHead, .send(Self.switched + "hello"), .drop(4), .send(", you"), .close]
        ])
        try await withTransport { transport in
            let (request, output) = try Request.upgrading(server.baseURL + "/a?b=1#c")
            let recording = Recording(transport.send(request))
            _ = try await recording.until { $0.body.count == 5 ? () : nil }
            output.send(Array("once".utf8))
            let log = try await recording.ended()
            #expect(log.head?.status.code == 101)
            #expect(log.head?[.upgrade] == "echo")
            #expect(String(decoding: log.body, as: UTF8.self) == "hello, you")
            #expect(log.kinds == ["head", "chunk", "finished"])
            #expect(log.metrics?.bodyBytesReceived == 10)
            let sent = try #require(server.record.requests.first)
            #expect(sent.method == "GET")
            #expect(sent.target == "/a?b=1")
            #expect(sent.field("host") == "127.0.0.1:\(server.port)")
            #expect(sent.field("upgrade") == "echo")
        }
    }

    /// A protocol that begins with the connection: no HTTP is sent, and none expected.
    @Test func noAgreement() async throws {
        let server = try RawServer([[.drop(5), .send("HTTP/1.1 500"), .drop(4), .send("\r\nbye"), .close]])
        try await withTransport { transport in
            let output = UpgradeOutput()
            var request = try Request.to(server.baseURL)
            request.timeouts = .unlimited
            request.upgrade = ProtocolUpgrade(opening: Array("HELLO".utf8), output: output.stream)
            let recording = Recording(transport.send(request))
            _ = try await recording.until { $0.body.count == 12 ? () : nil }
            output.send(Array("more".utf8))
            let log = try await recording.ended()
            #expect(log.head?.status.code == 101)
            #expect(String(decoding: log.body, as: UTF8.self) == "HTTP/1.1 500\r\nbye")
            #expect(log.kinds.first == "head" && log.kinds.last == "finished")
        }
    }

    @Test func fieldsAreSentAsTheyAre() async throws {
        let server = try RawServer([[.readHead, .send(Self.switched), .close]])
        try await withTransport { transport in
            var (request, _) = try Request.upgrading(server.baseURL)
            let latin = try #require(HTTPField.Name("X-Latin"))
            request.headerFields.append(HTTPField(name: latin, value: [0x63, 0xE9, 0xE8, 0xE0] as [UInt8]))
            request.headerFields[try #require(HTTPField.Name("X-Scope"))] = "a:"
            _ = try await Recording(transport.send(request)).ended()
            let sent = try #require(server.record.requests.first)
            // A repaired text would be longer than the bytes, and what lies behind them would be sent too.
            #expect(sent.field("x-latin")?.count == 4)
            #expect(sent.field("x-scope") == "a:")
        }
    }

    @Test func theHeadMayArriveByteByByte() async throws {
        let server = try RawServer([
            [
                .readHead, .sendInPieces("HTTP/1.1 103 Early Hints\r\nX: y\r\n\r\n" + Self.switched + "x"),
                .close,
            ]
        ])
        try await withTransport { transport in
            let log = try await Recording(transport.send(Request.upgrading(server.baseURL).0)).ended()
            #expect(log.kinds == ["interim", "head", "chunk", "finished"])
            #expect(log.body == [UInt8(ascii: "x")])
        }
    }

    /// Some servers send fields of content with 101, which has none (RFC 9110 §15.2).
    @Test(arguments: [
        "Content-Length: 0", "Content-Length: 3", "Transfer-Encoding: chunked", "Content-Encoding: gzip",
    ])
    func fieldsOfContentMeanNothing(field: String) async throws {
        let head = Self.switched.dropLast(2) + "\(field)\r\n\r\n"
        let server = try RawServer([[.readHead, .send(head + "hello"), .close]])
        try await withTransport { transport in
            let log = try await Recording(transport.send(Request.upgrading(server.baseURL).0)).ended()
            #expect(log.error == nil)
            #expect(String(decoding: log.body, as: UTF8.self) == "hello")
        }
    }

    /// Responses of a server that does not agree.
    @Test(arguments: [
        "Content-Length: 4\r\n\r\nnope",
        "Transfer-Encoding: chunked\r\n\r\n3;x=y\r\nnop\r\n1\r\ne\r\n0\r\nTrailer: 1\r\n\r\n",
        "Connection: close\r\n\r\nnope",
    ])
    func refusalsAreResponses(rest: String) async throws {
        for size in [1, 1000] {
            let server = try RawServer([
                [.readHead, .sendInPieces("HTTP/1.1 403 No\r\n" + rest, size: size), .close]
            ])
            try await withTransport { transport in
                let log = try await Recording(transport.send(Request.upgrading(server.baseURL).0)).ended()
                #expect(log.head?.status == .forbidden)
                #expect(String(decoding: log.body, as: UTF8.self) == "nope")
                #expect(log.kinds == ["head", "chunk", "finished"])
            }
        }
    }

    @Test(
        arguments: [
            ("HTTP/1.1 204 None\r\n\r\n", nil),
            ("HTTP/1.1 304 Same\r\nTransfer-Encoding: chunked\r\n\r\n", nil),
            ("HTTP/1.1 304 Same\r\nTransfer-Encoding: gzip\r\n\r\n", nil),
            ("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhalf", .partialBody),
            ("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n4\r\nhalf\r\n", .partialBody),
            ("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nxyz\r\n", .invalidResponse),
            ("HTTP/1.1 200 OK\r\nContent-Length: 4\r\nContent-Length: 5\r\n\r\nhalf", .invalidResponse),
            ("HTTP/1.1 101 Switching", .emptyReply),
            ("", .emptyReply),
            ("nonsense\r\n\r\n", .invalidResponse),
        ] as [(String, NetworkError.Code?)])
    func everyResponseHasAnEnd(text: String, code: NetworkError.Code?) async throws {
        let server = try RawServer([[.readHead, .send(text), .close]])
        try await withTransport { transport in
            let log = try await Recording(transport.send(Request.upgrading(server.baseURL).0)).ended()
            #expect(log.error?.code == code)
        }
    }

    /// The responses that libcurl's parser and the one of upgrades read alike.
    private static let bothParsers: [Fault] =
        (Fault.broken + Fault.malformedHeads + Fault.oversized + Fault.lengths + Fault.chunked)
        .filter { fault in
            fault.method == .get && !fault.name.contains("unasked 101")
                && !(Fault.unfolds
                    && ["a length on a line of its own", "a folded transfer coding"].contains(fault.name))
                && !(Fault.refusesCR && fault.name == "a CR in a field")
        }

    /// Both parsers of HTTP/1 have the same results.
    @Test(arguments: bothParsers)
    func parsers(fault: Fault) async throws {
        let servers = [try RawServer([fault.steps]), try RawServer([fault.steps])]
        try await withTransport { transport in
            let requests = [
                try Request.to(servers[0].baseURL), try Request.upgrading(servers[1].baseURL).0,
            ]
            var logs: [Recording.Log] = []
            for request in requests { logs.append(try await Recording(transport.send(request)).ended()) }
            #expect(logs[0].error?.code == logs[1].error?.code, "\(logs[1].error as Any)")
            #expect(logs[0].head?.status == logs[1].head?.status || logs[0].error != nil)
            #expect(logs[0].error != nil || logs[0].body == logs[1].body)
        }
    }

    /// Heads and framing that libcurl refuses, and codings that were not offered, are refused.
    @Test(arguments: [
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip\r\n\r\nok",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: notchunked\r\n\r\n0\r\n\r\n",
        "HTTP/2 200\r\n\r\n", "HTTP/1.2 200 OK\r\n\r\n", "HTTP/1.1 200 O\0K\r\n\r\n",
    ])
    func refused(text: String) async throws {
        let server = try RawServer([[.readHead, .send(text), .close]])
        try await withTransport { transport in
            let log = try await Recording(transport.send(Request.upgrading(server.baseURL).0)).ended()
            #expect(log.error?.code == .invalidResponse)
        }
    }

    @Test func aLineWithoutEndIsTooLarge() async throws {
        let server = try RawServer([
            [
                .readHead, .send("HTTP/1.1 101 OK\r\nX: "),
                .sendRepeatedly(Array(repeating: 0x61, count: 9999), times: 9999),
            ]
        ])
        try await withTransport { transport in
            let log = try await Recording(transport.send(Request.upgrading(server.baseURL).0)).ended()
            #expect(log.error?.code == .tooLarge)
        }
    }

    @Test func aPauseHoldsTheServer() async throws {
        let chunk = Array(repeating: UInt8(7), count: 1 << 16)
        let server = try RawServer([
            [.readHead, .send(Self.switched), .sendRepeatedly(chunk, times: 512), .close]
        ])
        try await withTransport { transport in
            let recording = Recording(
                transport.send(try Request.upgrading(server.baseURL).0), keepsBody: false
            ) { event, subscription in
                if case .head = event { subscription.pause() }
            }
            _ = try await recording.until { $0.head.map { _ in () } }
            _ = try await server.until { ($0.connections.first?.sendStalls ?? 0) > 0 ? () : nil }
            #expect(recording.log.chunks == 0)
            recording.resume()
            let log = try await recording.ended()
            #expect(log.metrics?.bodyBytesReceived == 512 << 16)
        }
    }

    @Test func aSlowServerHoldsTheOutput() async throws {
        let gate = try Gate()
        let server = try RawServer([
            [.readHead, .send(Self.switched), .wait(gate), .waitForClientClose]
        ])
        try await withTransport { transport in
            let (request, output) = try Request.upgrading(server.baseURL)
            let recording = Recording(transport.send(request))
            _ = try await recording.until { $0.head.map { _ in () } }
            var sent = 0
            while !output.isPaused {
                output.send(Array(repeating: 1, count: 1 << 16))
                sent += 1 << 16
                await transport.loop.poll()
            }
            #expect(sent < 64 << 20)
            gate.open()
            while output.isPaused { await transport.loop.poll() }
            recording.cancel()
            _ = try await server.until { $0.connections.first?.end.map { _ in () } }
            #expect(server.record.connections.first?.bytesDropped == sent)
        }
    }

    @Test func overTLSAndThroughProxies() async throws {
        let server = try RawServer([[.readHead, .send(Self.switched), .echo]])
        let nginx = try NginxServer.shared()
        let proxy = try ProxyServer(.http)
        let payload = (0..<300_000).map { UInt8(truncatingIfNeeded: $0) }
        for (url, isProxied) in [
            (nginx.tlsBaseURL + "/upgrade?port=\(server.port)", false), (server.baseURL, true),
            (nginx.tlsBaseURL + "/upgrade?port=\(server.port)", true),
        ] {
            try await withTransport(
                caBundlePath: nginx.certificatePath,
                configured: { if isProxied { $0.proxy = Proxy("http://127.0.0.1:\(proxy.port)") } }
            ) { transport in
                let (request, output) = try Request.upgrading(url)
                let recording = Recording(transport.send(request))
                _ = try await recording.until { $0.head.map { _ in () } }
                output.send(payload)
                let log = try await recording.until { $0.body.count >= payload.count ? $0 : nil }
                #expect(log.body == payload)
                recording.cancel()
            }
        }
        #expect(proxy.requests.map(\.method) == ["CONNECT", "CONNECT"])
    }

    @Test func throughAUnixSocket() async throws {
        let server = try RawServer([[.readHead, .send(Self.switched), .echo]])
        let nginx = try NginxServer.shared()
        try await withTransport(configured: { $0.unixSocketPath = nginx.unixSocketPath }) { transport in
            let (request, output) = try Request.upgrading("http://localhost/upgrade?port=\(server.port)")
            let recording = Recording(transport.send(request))
            _ = try await recording.until { $0.head.map { _ in () } }
            output.send([1, 2, 3])
            #expect(try await recording.until { $0.body.count == 3 ? $0 : nil }.body == [1, 2, 3])
            recording.cancel()
        }
    }

    @Test func theProxyMayAskForACredentialOrRefuse() async throws {
        let server = try RawServer([[.readHead, .send(Self.switched + "x"), .close]])
        let proxy = try ProxyServer(.http, credential: "Basic YTpi")
        for (text, code) in [("a:b@", nil), ("a:c@", .proxy)] as [(String, NetworkError.Code?)] {
            try await withTransport(configured: { $0.proxy = Proxy("http://\(text)127.0.0.1:\(proxy.port)") })
            {
                let log = try await Recording($0.send(Request.upgrading(server.baseURL).0)).ended()
                #expect(log.error?.code == code)
                #expect(log.body == (code == nil ? [UInt8(ascii: "x")] : []))
            }
        }
        let refusing = try ProxyServer(.http, refusesTunnels: true)
        try await withTransport(configured: { $0.proxy = Proxy("http://127.0.0.1:\(refusing.port)") }) {
            let log = try await Recording($0.send(Request.upgrading(server.baseURL).0)).ended()
            #expect(log.error?.code == .proxy)
        }
        #expect(server.record.requests.count == 1)
    }

    /// libcurl closes an idle connection with unread bytes when another transfer begins.
    @Test func otherRequestsLeaveTheConnectionAlone() async throws {
        let server = try RawServer([[.readHead, .send(Self.switched), .echo]])
        let other = try RawServer { _ in [.respond(body: "ok")] }
        try await withTransport { transport in
            let (request, output) = try Request.upgrading(server.baseURL)
            let recording = Recording(transport.send(request)) { event, subscription in
                if case .head = event { subscription.pause() }
            }
            _ = try await recording.until { $0.head.map { _ in () } }
            output.send([1, 2, 3])
            _ = try await server.until {
                ($0.connections.first?.bytesSent ?? 0) > Self.switched.utf8.count ? () : nil
            }
            for _ in 0..<3 {
                #expect(try await transport.get(other.baseURL).text == "ok")
                try await Task.sleep(for: .milliseconds(600))
            }
            recording.resume()
            #expect(try await recording.until { $0.body.count == 3 ? $0 : nil }.body == [1, 2, 3])
            recording.cancel()
        }
    }

    @Test func anOpenConnectionTakesNobodysPlace() async throws {
        let server = try RawServer([
            [.readHead, .send(Self.switched), .echo], [.readRequest, .respond(body: "ok"), .close],
        ])
        try await withTransport(configured: {
            $0.maxConnectionsPerOrigin = 1
            $0.maxConnections = 1
        }) { transport in
            let recording = Recording(transport.send(try Request.upgrading(server.baseURL).0))
            _ = try await recording.until { $0.head.map { _ in () } }
            #expect(try await transport.get(server.baseURL).text == "ok")
            recording.cancel()
        }
    }

    @Test func credentialsOfTheURLAreSent() async throws {
        let server = try RawServer([[.readHead, .send(Self.switched), .close]])
        try await withTransport { transport in
            let url = "http://a%20b:c@127.0.0.1:\(server.port)/"
            _ = try await Recording(transport.send(Request.upgrading(url).0)).ended()
            #expect(server.record.requests.first?.field("authorization") == "Basic YSBiOmM=")
        }
    }

    @Test func aFailedOutputFailsTheExchange() async throws {
        let server = try RawServer([[.readHead, .send(Self.switched), .echo]])
        try await withTransport { transport in
            let (request, output) = try Request.upgrading(server.baseURL)
            let recording = Recording(transport.send(request))
            _ = try await recording.until { $0.head.map { _ in () } }
            output.fail(NetworkError(.file, "no more"))
            #expect(try await recording.ended().error?.code == .file)
        }
    }

    @Test func thePeerMayReset() async throws {
        let server = try RawServer([[.readHead, .send(Self.switched), .reset]])
        try await withTransport { transport in
            let log = try await Recording(transport.send(Request.upgrading(server.baseURL).0)).ended()
            #expect(log.error?.code == .connectionLost)
        }
    }
}
