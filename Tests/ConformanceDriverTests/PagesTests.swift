import TestServers
import Testing

@Suite(.timeLimit(.minutes(2))) struct PagesTests {
    @Test func aChainOfLinks() async throws {
        let server = try RawServer { request in
            switch request.target {
            case "/list": [.respond(200, ["Link": "</list?page=2>; rel=\"next\""], body: "[1,2,3]")]
            case "/list?page=2":
                [
                    .respond(
                        200, ["Link": "<?page=3>; rel=next, </list>; rel=first"],
                        body: #"{"n":1,"items":[{},{}]}"#)
                ]
            case "/list?page=3": [.respond(203, body: "[]")]
            default: [.respond(404)]
            }
        }
        let driver = try DriverProcess()
        try driver.send("pages", 3, ["url": server.baseURL + "/list"])
        var lines: [String] = []
        for _ in 0..<3 {
            let page = try await driver.answer(to: 3)
            #expect(page.url == server.baseURL + (page.page == 1 ? "/list" : "/list?page=\(page.page ?? 0)"))
            lines.append("\(page.page ?? 0): \(page.status ?? 0), \(page.items ?? -1)")
        }
        #expect(lines == ["1: 200, 3", "2: 200, 2", "3: 203, 0"])
        #expect(try await driver.answer(to: 3).end == true)
        #expect(try await driver.end().answers.isEmpty)
    }

    @Test func aChainThatBreaks() async throws {
        let server = try RawServer { request in
            request.target == "/list"
                ? [.respond(200, ["Link": "</2>; rel=next"], body: "[1]")] : [.respond(404)]
        }
        let driver = try DriverProcess()
        try driver.send("pages", 3, ["url": server.baseURL + "/list"])
        #expect(try await driver.answer(to: 3).page == 1)
        #expect(try await driver.answer(to: 3).error == "status")
        #expect(try await driver.end().answers.isEmpty)
    }
}
