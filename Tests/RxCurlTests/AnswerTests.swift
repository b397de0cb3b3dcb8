import HTTPTypes
import RxCurl
import RxHTTP
import RxLite
import TestServers
import Testing

/// Requests as sent and responses as received, with nginx.
@Suite(.timeLimit(.minutes(1))) struct AnswerTests {
    private let server: NginxServer

    init() throws { server = try .shared() }

    @Test(arguments: ["GET", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "PURGE"])
    func everyMethodArrives(name: String) async throws {
        let method = try #require(HTTPRequest.Method(name))
        let response = try await withTransport { transport in
            try await transport.answer(to: .to(server.baseURL + "/echo?a=b%20c&d=%2F", method: method))
        }
        let echo = try response.echo()
        #expect(response.status == .ok)
        #expect(response.head[HTTPField.Name("x-method")!] == name)
        #expect(echo.method == name)
        #expect(echo.target == "/echo?a=b%20c&d=%2F")
        #expect(echo.protocol == "HTTP/1.1")
        #expect(echo.expect.isEmpty)
        #expect(echo.contentType.isEmpty)
        // RFC 9110 §8.6: no length if the method anticipates no content.
        #expect(echo.contentLength == (["POST", "PUT", "PATCH"].contains(name) ? "0" : ""))
    }

    @Test func headersArriveAndAreReadable() async throws {
        var request = try Request.to(server.baseURL + "/echo")
        try request.setField("X-Test", to: "words, with; signs = (and) {more}")
        try request.setField("Authorization", to: "Bearer abc")
        try request.setField("User-Agent", to: "tests")
        try request.setField("Accept", to: "")
        let response = try await withTransport { transport in try await transport.answer(to: request) }
        let echo = try response.echo()
        #expect(echo.test == "words, with; signs = (and) {more}")
        #expect(echo.authorization == "Bearer abc")
        #expect(echo.agent == "tests")
        #expect(echo.accept.isEmpty)
        #expect(response.head[.contentType] == "application/json")
        #expect(response.head.headerFields[.contentLength] == "\(response.body.count)")
    }

    @Test(arguments: [0, 1, 1 << 10, 1 << 20], ["POST", "PUT", "DELETE"])
    func contentArrivesByteForByte(count: Int, name: String) async throws {
        let bytes = Array(NginxServer.large.prefix(count))
        let raw = try RawServer { _ in [.respond()] }
        let request = try Request.to(
            raw.baseURL + "/up", method: #require(HTTPRequest.Method(name)), body: .bytes(bytes))
        let (log, nginx) = try await withTransport { transport in
            let log = try await Recording(transport.send(request)).ended()
            var other = request
            other.url = try Request.to(server.baseURL + "/upload").url
            return (log, try await transport.answer(to: other))
        }
        let received = try await raw.nextRequest()
        #expect(received.body == bytes)
        #expect(received.field("Content-Length") ?? "0" == "\(count)")
        #expect(received.field("Content-Type") == nil)
        #expect(nginx.text == (count == 0 && name == "DELETE" ? "" : "\(count)"))
        #expect(log.kinds == (count > 0 ? ["uploaded"] : []) + ["head", "finished"])
        #expect(log.uploaded.last ?? 0 == Int64(count))
        #expect(log.uploaded == log.uploaded.sorted())
    }

    @Test func sixteenMebibytesComeInOrder() async throws {
        let log = try await withTransport { transport in
            try await Recording(transport.send(.to(server.baseURL + "/large"))).ended()
        }
        #expect(log.kinds == ["head", "chunk", "finished"])
        #expect(log.chunks > 1)
        #expect(Bytes(log.body) == Bytes(NginxServer.large))
        #expect(log.ends.count == 1)
        #expect(log.afterEnd == 0)
    }

    @Test func gzipIsAskedForAndDecoded() async throws {
        try await withTransport { transport in
            let text = try await transport.get(server.baseURL + "/text")
            #expect(text.text == NginxServer.text)
            #expect(text.head[.contentEncoding] == "gzip")
            let echo = try await transport.get(server.baseURL + "/echo").echo()
            #expect(echo.encoding.contains("gzip"))
        }
    }

    @Test(arguments: NginxServer.statuses)
    func everyStatusIsASuccess(code: Int) async throws {
        let log = try await withTransport { transport in
            try await Recording(transport.send(.to(server.baseURL + "/status/\(code)"))).ended()
        }
        #expect(log.head?.status.code == code)
        let hasBody = code != 204 && code != 304
        #expect(log.kinds == (hasBody ? ["head", "chunk", "finished"] : ["head", "finished"]))
        #expect(log.ends.count == 1)
    }

    @Test(arguments: NginxServer.redirects)
    func redirectsAreNotFollowed(code: Int) async throws {
        let response = try await withTransport { transport in
            try await transport.get(server.baseURL + "/redirect/\(code)")
        }
        #expect(response.status.code == code)
        #expect(response.head[.location] == "/echo")
    }

    @Test func headHasNoBody() async throws {
        try await withTransport { transport in
            let recording = Recording(
                transport.send(try .to(server.baseURL + "/large", method: .head)))
            let log = try await recording.ended()
            #expect(log.kinds == ["head", "finished"])
            #expect(log.head?[.contentLength] == "\(NginxServer.large.count)")
            #expect(try await transport.get(server.baseURL + "/json").text == NginxServer.json)
        }
    }

    // MARK: - Connections

    @Test func aConnectionIsUsedAgain() async throws {
        try await withTransport { transport in
            let first = try await transport.get(server.baseURL + "/echo")
            let connection = try first.echo().connection
            #expect(!first.metrics.isConnectionReused)
            #expect(first.metrics.connected > .zero)
            #expect(first.metrics.connected <= first.metrics.firstByte)
            #expect(first.metrics.firstByte <= first.metrics.total)
            for count in 2...20 {
                let next = try await transport.get(server.baseURL + "/echo")
                #expect(next.metrics.isConnectionReused)
                #expect(next.metrics.connected == .zero)
                let echo = try next.echo()
                #expect(echo.connection == connection)
                #expect(echo.request == "\(count)")
            }
        }
    }

    @Test func aConnectionIsNotSharedByTransports() async throws {
        let connections = try await withTransport { first in
            try await withTransport { second in
                var connections: Set<String> = []
                for transport in [first, second, first, second] {
                    connections.insert(try await transport.get(server.baseURL + "/echo").echo().connection)
                }
                return connections
            }
        }
        #expect(connections.count == 2)
    }

    @Test func sixtyFourAtOnce() async throws {
        try await withTransport { transport in
            let targets = try await withThrowingTaskGroup { group in
                for index in 0..<64 {
                    group.addTask {
                        try await transport.get(server.baseURL + "/echo?\(index)").echo().target
                    }
                }
                return try await group.reduce(into: Set<String>()) { $0.insert($1) }
            }
            #expect(targets == Set((0..<64).map { "/echo?\($0)" }))
        }
    }

    // MARK: - TLS

    @Test func aSelfSignedCertificateIsRefusedAndTheErrorSaysSo() async throws {
        try await withTransport { transport in
            let log = try await Recording(transport.send(.to(server.tlsBaseURL + "/json"))).ended()
            #expect(log.error?.code == .tls)
            #expect(log.error?.isUnsent == true)
            let words = ["self-signed certificate", "certificate signer not trusted"]
            #expect(words.contains { log.error?.details?.contains($0) == true })
        }
    }

    @Test func aCertificateOfAGivenAuthorityIsAccepted() async throws {
        try await withTransport(caBundlePath: server.certificatePath) { transport in
            for host in ["127.0.0.1", "localhost"] {
                let url = "https://\(host):\(server.tlsPort)/echo"
                let echo = try await transport.get(url).echo()
                #expect(echo.scheme == "https")
            }
            let large = try await transport.get(server.tlsBaseURL + "/large")
            #expect(Bytes(large.body) == Bytes(NginxServer.large))
        }
    }

    @Test func aCertificateForAnotherNameIsRefused() async throws {
        try await withTransport(caBundlePath: server.certificatePath) { transport in
            // curl resolves every name under .localhost to loopback (RFC 6761 §6.3).
            let url = "https://other.localhost:\(server.tlsPort)/json"
            let log = try await Recording(transport.send(.to(url))).ended()
            #expect(log.error?.code == .tls)
            #expect(log.error?.isUnsent == true)
            #expect(log.error?.message.contains("other.localhost") == true)
            #expect(try await transport.get(server.tlsBaseURL + "/json").text == NginxServer.json)
        }
    }

    @Test func plainHTTPOnATLSPortIsAnAnswerAndTLSOnAPlainPortIsNone() async throws {
        try await withTransport { transport in
            let plain = try await transport.get("http://127.0.0.1:\(server.tlsPort)/json")
            #expect(plain.status.code == 400)
            let tls = Recording(transport.send(try .to("https://127.0.0.1:\(server.port)/json")))
            #expect(try await tls.ended().error?.code == .tls)
        }
    }
}
