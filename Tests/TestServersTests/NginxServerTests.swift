import FoundationEssentials
import Testing

@testable import TestServers

@Suite(.timeLimit(.minutes(1)))
struct NginxServerTests {
    private static let server = Result { try NginxServer() }

    private func get(_ target: String, _ fields: String = "", method: String = "GET", body: String = "")
        throws
        -> (head: String, body: String)
    {
        let client = try PlainClient(port: Self.server.get().port)
        try client.send(
            "\(method) \(target) HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\(fields)\r\n\(body)")
        let text = try client.receive()
        let end = try #require(text.firstRange(of: "\r\n\r\n"))
        return (String(text[..<end.lowerBound]), String(text[end.upperBound...]))
    }

    @Test(arguments: [("/json", NginxServer.json, 61), ("/items", NginxServer.items, 809)])
    func documentsHaveTheirLength(target: String, text: String, count: Int) throws {
        #expect(try get(target).body == text)
        #expect(text.utf8.count == count)
    }

    @Test(arguments: NginxServer.statuses)
    func answersWithThatStatus(code: Int) throws {
        #expect(try get("/status/\(code)").head.hasPrefix("HTTP/1.1 \(code) "))
    }

    @Test(arguments: NginxServer.redirects)
    func redirectsToEcho(code: Int) throws {
        let head = try get("/redirect/\(code)").head
        #expect(head.hasPrefix("HTTP/1.1 \(code) "))
        #expect(head.hasSuffix("\r\nLocation: /echo"))
    }

    @Test func echoesMethodTargetFieldsAndBody() throws {
        let echo = try get("/echo?a=b", "X-Test: yes\r\nContent-Length: 2\r\n", method: "PATCH", body: "hi")
            .body
        #expect(echo.contains(#""method":"PATCH","target":"/echo?a=b","test":"yes""#))
        #expect(try get("/echo/body", "Content-Length: 5\r\n", method: "POST", body: "hello").body == "hello")
        #expect(try get("/upload", "Content-Length: 5\r\n", method: "PUT", body: "hello").body == "5")
    }

    @Test func servesFilesPlainAndCompressed() throws {
        #expect(try get("/text").body == NginxServer.text)
        let coded = try get("/text", "Accept-Encoding: gzip\r\n")
        #expect(coded.head.contains("\r\nContent-Encoding: gzip"))
        #expect(coded.body.utf8.count < 2_000)
        #expect(
            try get("/large", method: "HEAD").head.contains(
                "\r\nContent-Length: \(NginxServer.large.count)\r\n"))
    }

    @Test func stoppingLeavesNothingBehind() throws {
        let server = try NginxServer()
        #expect(FileManager.default.fileExists(atPath: server.certificatePath))
        server.stop()
        #expect(!FileManager.default.fileExists(atPath: server.folder))
        #expect(throws: SystemError.self) { _ = try PlainClient(port: server.port) }
        #expect(throws: SystemError.self) { _ = try PlainClient(port: server.tlsPort) }
    }
}
