import Foundation
import TestServers
import Testing

@Suite(.timeLimit(.minutes(2))) struct CookieTests {
    private func server() throws -> RawServer {
        try RawServer { request in
            request.target == "/login"
                ? [.respond(302, ["Set-Cookie": "id=42; Path=/; Max-Age=1000", "Location": "/home"])]
                : [.respond(200, body: request.field("Cookie") ?? "none")]
        }
    }

    @Test(arguments: [false, true])
    func keptWhereTheyAreAskedFor(isAskedFor: Bool) async throws {
        let server = try server()
        let driver = isAskedFor ? try DriverProcess("--cookies") : try DriverProcess()
        let expected = isAskedFor ? "id=42" : "none"
        #expect(try await driver.fetch(1, server.baseURL + "/login").text == expected)
        #expect(try await driver.fetch(2, server.baseURL + "/", ["credentials": "include"]).text == expected)
        #expect(try await driver.fetch(3, server.baseURL + "/", ["credentials": "omit"]).text == "none")
    }

    /// Stored cookies are sent with the first request of the next process, also after a crash.
    @Test func acrossProcesses() async throws {
        let server = try server()
        let folder = try TemporaryFolder()
        let file = folder.file("cookies.json")

        let first = try DriverProcess("--cookie-file", file)
        #expect(try await first.fetch(1, server.baseURL + "/login").text == "id=42")
        #expect(try await first.end().ending == .exited(0))

        let second = try DriverProcess("--cookie-file", file)
        #expect(try await second.fetch(1, server.baseURL + "/").text == "id=42")
        try await second.kill()

        let third = try DriverProcess("--cookie-file", file)
        #expect(try await third.fetch(1, server.baseURL + "/").text == "id=42")
        #expect(try await third.end().answers.isEmpty)
        #expect(try folder.names == ["cookies.json"])
    }
}
