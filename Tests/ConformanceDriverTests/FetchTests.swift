import Foundation
import TestServers
import Testing

@Suite(.timeLimit(.minutes(2))) struct FetchTests {
    @Test(arguments: ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "PURGE"])
    func everyMethod(method: String) async throws {
        let server = try RawServer { request in [.respond(200, ["X-Method": request.method])] }
        let driver = try DriverProcess()
        let url = server.baseURL + "/a?b=c%20d"
        let answer = try await driver.fetch(1, url, ["method": method])
        #expect(answer.status == 200)
        #expect(answer.statusText == "Scripted")
        #expect(answer.url == url)
        #expect(answer.fromCache == false)
        #expect(answer.interim?.isEmpty == true)
        #expect(answer.values("x-method") == [method])
        let end = try await driver.end()
        #expect(end.answers.isEmpty && end.ending == .exited(0))
    }

    @Test(arguments: [
        ("/?q=%7B%22", "/?q=%7B%22"), ("/?q=%7B%22|", "/?q=%7B%22%7C"), ("/a%2fb/./c", "/a%2fb/./c"),
        ("/?a=b c", "/?a=b%20c"), ("/ü%C3%BC", "/%C3%BC%C3%BC"),
    ])
    func urlsAsGiven(path: String, target: String) async throws {
        let server = try RawServer { _ in [.respond(200)] }
        let driver = try DriverProcess()
        #expect(try await driver.fetch(1, server.baseURL + path).status == 200)
        // A newer libcurl writes the digits of escapes in upper case, which means the same (RFC 3986 §6.2.2.1).
        #expect(server.record.requests.map { $0.target.lowercased() } == [target.lowercased()])
    }

    @Test func bodiesAndHeadersBothWays() async throws {
        let server = try RawServer { request in
            let echo = request.fields.filter { $0.name.hasPrefix("X-") }.map { "\($0.name): \($0.value)\r\n" }
                .joined()
            let length = request.body.count
            return [
                .send(
                    Array("HTTP/1.1 207 Odd\r\nContent-Length: \(length)\r\n\(echo)\r\n".utf8) + request.body)
            ]
        }
        let driver = try DriverProcess()
        let bytes = (0..<100_000).map { UInt8(truncatingIfNeeded: $0 &* 31) }
        let answer = try await driver.fetch(
            1, server.baseURL,
            [
                "method": "POST", "bodyBase64": Data(bytes).base64EncodedString(),
                "headers": [["X-One", "1"], ["X-Two", "a"], ["X-Two", "b, c"], ["Content-Type", "x/y"]],
            ])
        #expect(answer.status == 207)
        #expect(answer.body == bytes)
        #expect(answer.headers?.dropFirst() == [["X-One", "1"], ["X-Two", "a"], ["X-Two", "b, c"]])
        let request = try await server.nextRequest()
        #expect(request.field("Content-Type") == "x/y")
        let plain = try await driver.fetch(2, server.baseURL, ["method": "POST", "bodyBase64": "AA=="])
        #expect(plain.body == [0])
        #expect(try await server.nextRequest().field("Content-Type") == nil)
    }

    /// No status is an error.
    @Test(arguments: [204, 304, 400, 401, 404, 429, 500, 503])
    func everyStatus(status: Int) async throws {
        let server = try RawServer { _ in [.send("HTTP/1.1 \(status) So\r\nContent-Length: 0\r\n\r\n")] }
        let driver = try DriverProcess()
        #expect(try await driver.fetch(1, server.baseURL).status == status)
        #expect(server.record.requests.count == 1)
    }

    @Test(arguments: [301, 302, 303, 307, 308], ["follow", "manual", "error"])
    func redirects(status: Int, mode: String) async throws {
        let server = try RawServer { request in
            request.target == "/1"
                ? [.respond(status, ["Location": "/2?x"])] : [.respond(200, body: request.method)]
        }
        let driver = try DriverProcess()
        let answer = try await driver.fetch(1, server.baseURL + "/1", ["method": "POST", "redirect": mode])
        switch mode {
        case "follow":
            #expect(answer.status == 200)
            #expect(answer.url == server.baseURL + "/2?x")
            #expect(answer.text == (status < 304 ? "GET" : "POST"))
        case "manual":
            #expect(answer.status == status)
            #expect(answer.url == server.baseURL + "/1")
            #expect(answer.values("Location") == ["/2?x"])
        default:
            #expect(answer.error == "invalidRedirect")
        }
        let end = try await driver.end()
        #expect(end.answers.isEmpty)
        #expect(server.record.requests.count == (mode == "follow" ? 2 : 1))
    }

    @Test func interimAnswers() async throws {
        let early = "HTTP/1.1 103 Early Hints\r\nLink: </a>\r\nLink: </b>\r\n\r\n"
        let server = try RawServer { request in
            request.target == "/1"
                ? [.send(early), .respond(302, ["Location": "/2"])]
                : [.send("HTTP/1.1 102 Processing\r\n\r\n" + early), .respond(200, body: "done")]
        }
        let driver = try DriverProcess()
        let answer = try await driver.fetch(1, server.baseURL + "/1")
        #expect(answer.text == "done")
        #expect(answer.interim?.map(\.status) == [102, 103])
        #expect(answer.interim?.last?.headers == [["Link", "</a>"], ["Link", "</b>"]])
    }

    @Test func errorCodes() async throws {
        let dead = try DeadPort(.refusing)
        let server = try RawServer([
            [.readRequest, .reset], [.readRequest, .close],
            [.readRequest, .send("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhalf"), .close],
            [.readRequest, .send("no HTTP\r\n\r\n"), .close],
        ])
        let driver = try DriverProcess()
        #expect(try await driver.fetch(1, dead.baseURL).error == "connect")
        #expect(try await driver.fetch(2, "http://no-such-host.invalid/").error == "resolve")
        #expect(try await driver.fetch(3, "ftp://127.0.0.1/").error == "invalidURL")
        #expect(try await driver.fetch(4, "nowhere").error == "invalidURL")
        #expect(
            try await driver.fetch(5, "http://127.0.0.1/", ["headers": [["X", "a\r\nb"]]]).error
                == "invalidHeader")
        #expect(
            try await driver.fetch(6, "http://127.0.0.1/", ["headers": [["X:", "a"]]]).error
                == "invalidHeader")
        #expect(try await driver.fetch(7, server.baseURL).error == "connectionLost")
        let empty = try await driver.fetch(8, server.baseURL)
        #expect(empty.error == "emptyReply")
        #expect(empty.message?.isEmpty == false)
        #expect(try await driver.fetch(9, server.baseURL).error == "partialBody")
        #expect(try await driver.fetch(10, server.baseURL).error == "invalidResponse")
    }

    /// An invalid line is answered, and the next one is executed.
    @Test(
        arguments: [
            ("no JSON", nil), ("[]", nil), (#"{"op":"fetch","url":"http://127.0.0.1/"}"#, nil),
            (#"{"op":"jump","id":7}"#, 7), (#"{"id":7}"#, 7),
            (#"{"op":"fetch","id":7,"method":"G T","url":"http://a/"}"#, 7),
            (#"{"op":"fetch","id":7,"url":"http://a/","bodyBase64":"!"}"#, 7),
            (#"{"op":"fetch","id":7,"url":"http://a/","cache":"maybe"}"#, 7),
            (#"{"op":"fetch","id":7,"url":"http://a/","redirect":"maybe"}"#, 7),
            (#"{"op":"fetch","id":7,"url":"http://a/","credentials":"maybe"}"#, 7),
            (#"{"op":"fetch","id":7,"url":"http://a/","headers":[["x"]]}"#, 7),
        ] as [(String, Double?)])
    func invalidCommands(line: String, id: Double?) async throws {
        let driver = try DriverProcess()
        try driver.send(line)
        let answer = try await driver.answer()
        #expect(answer.error == "invalidCommand")
        #expect(answer.id == id)
        #expect(answer.message?.isEmpty == false)
        try driver.send("")
        #expect(try await driver.fetch(8, "ftp://x/").error == "invalidURL")
        #expect(try await driver.end().ending == .exited(0))
    }

    /// A text is a valid id, too, and an id in use is refused.
    @Test func ids() async throws {
        let gate = try Gate()
        let server = try RawServer { _ in [.wait(gate), .respond(200)] }
        let driver = try DriverProcess()
        try driver.send("fetch", 1, ["url": server.baseURL])
        try driver.send("fetch", 1, ["url": server.baseURL])
        #expect(try await driver.answer(to: 1).error == "invalidCommand")
        gate.open()
        #expect(try await driver.answer(to: 1).status == 200)
        #expect(try await driver.fetch(1, server.baseURL).status == 200)
    }

    /// A cancelled operation answers once and closes the connection.
    @Test func cancel() async throws {
        let server = try RawServer { request in
            request.target == "/slow" ? [.stall] : [.respond(200, body: "quick")]
        }
        let driver = try DriverProcess()
        try driver.send("fetch", 1, ["url": server.baseURL + "/slow"])
        _ = try await server.nextRequest()
        try driver.send("cancel", 1)
        #expect(try await driver.answer(to: 1).error == "cancelled")
        #expect(try await server.connectionEnded(0) == .clientClosed)
        try driver.send("cancel", 1)
        try driver.send("cancel", 99)
        #expect(try await driver.fetch(2, server.baseURL + "/quick").text == "quick")
        #expect(try await driver.end().answers.isEmpty)
    }

    /// Hundreds in flight; fast ones overtake; the end of input waits for all.
    @Test func manyInFlight() async throws {
        let gate = try Gate()
        let server = try RawServer { request in
            (request.target.hasPrefix("/slow") ? [.wait(gate)] : []) + [.respond(200, body: request.target)]
        }
        let driver = try DriverProcess()
        for id in 0..<100 { try driver.send("fetch", id, ["url": server.baseURL + "/slow\(id)"]) }
        #expect(try await driver.fetch(1000, server.baseURL + "/quick").text == "/quick")
        gate.open()
        let end = try await driver.end()
        #expect(end.ending == .exited(0))
        #expect(Set(end.answers.compactMap(\.text)) == Set((0..<100).map { "/slow\($0)" }))
        #expect(end.answers.allSatisfy { answer in answer.text == answer.id.map { "/slow\(Int($0))" } })
    }

    @Test(arguments: [
        ["--help"], ["--cache"], ["--cache", "public"], ["--proxy"], ["--cacert"], ["--what"], ["http://a/"],
    ])
    func commandLines(arguments: [String]) async throws {
        let driver = try ChildProcess(ChildProcess.product("conformance-driver"), arguments)
        driver.closeInput()
        let record = try await driver.ended()
        #expect(record.ending == .exited(arguments == ["--help"] ? 0 : 2))
        let text = arguments == ["--help"] ? record.text : record.errorText
        #expect(text.contains("usage: conformance-driver"))
    }
}
