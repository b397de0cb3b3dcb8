import Foundation
import TestServers
import Testing

/// The driver's cache, checked by the server's counts.
@Suite(.timeLimit(.minutes(2))) struct CacheTests {
    /// Numbers its responses; with an ETag if the path asks for it, and then with a 304 to a client that has
    /// it.
    private func server(_ fields: [String: String]) throws -> RawServer {
        let count = Counter()
        return try RawServer { request in
            if let tag = fields["ETag"], request.field("If-None-Match") == tag {
                return [Self.answer(304, fields)]
            }
            if request.target == "/moved" {
                return [Self.answer(301, fields.merging(["Location": "/"]) { $1 })]
            }
            return [Self.answer(200, fields, body: "\(count.next())")]
        }
    }

    private static func answer(_ status: Int, _ fields: [String: String], body: String = "") -> RawServer.Step
    {
        let lines = fields.map { "\($0): \($1)\r\n" }.joined()
        return .send("HTTP/1.1 \(status) So\r\nContent-Length: \(body.utf8.count)\r\n\(lines)\r\n\(body)")
    }

    private static let hour = ["Cache-Control": "max-age=3600"]

    @Test func whatIsFreshIsKept() async throws {
        let server = try server(Self.hour)
        let driver = try DriverProcess("--cache", "private")
        let first = try await driver.fetch(1, server.baseURL)
        let second = try await driver.fetch(2, server.baseURL)
        #expect([first.text, second.text] == ["1", "1"])
        #expect([first.fromCache, second.fromCache] == [false, true])
        #expect(second.values("age")?.count == 1)
        #expect(server.record.requests.count == 1)
        #expect(try await driver.end().ending == .exited(0))
    }

    @Test(
        arguments: ["default", "no-store", "reload", "no-cache", "force-cache", "only-if-cached"],
        [true, false])
    func withoutCacheEveryModeGoesToTheServer(mode: String, isSaid: Bool) async throws {
        let server = try server(Self.hour)
        let driver = try isSaid ? DriverProcess("--cache", "off") : DriverProcess()
        for id in 1...2 {
            let answer = try await driver.fetch(id, server.baseURL, ["cache": mode])
            #expect(answer.text == "\(id)" && answer.fromCache == false)
        }
    }

    @Test(arguments: [
        ("default", "1", true, 1), ("no-store", "2", false, 2), ("reload", "2", false, 2),
        ("no-cache", "2", false, 2), ("force-cache", "1", true, 1), ("only-if-cached", "1", true, 1),
    ])
    func modes(mode: String, body: String, isKept: Bool, count: Int) async throws {
        let server = try server(Self.hour)
        let driver = try DriverProcess("--cache", "private")
        _ = try await driver.fetch(1, server.baseURL)
        let answer = try await driver.fetch(2, server.baseURL, ["cache": mode])
        #expect(answer.text == body && answer.fromCache == isKept)
        #expect(server.record.requests.count == count)
    }

    @Test func onlyIfCachedOfNothing() async throws {
        let server = try server(Self.hour)
        let driver = try DriverProcess("--cache", "private")
        let answer = try await driver.fetch(1, server.baseURL, ["cache": "only-if-cached"])
        #expect(answer.status == 504 && answer.fromCache == false)
        #expect(server.record.requests.isEmpty)
    }

    @Test func whatIsStaleIsConfirmed() async throws {
        let server = try server(["Cache-Control": "no-cache", "ETag": "\"a\""])
        let driver = try DriverProcess("--cache", "private")
        _ = try await driver.fetch(1, server.baseURL)
        let answer = try await driver.fetch(2, server.baseURL)
        #expect(answer.status == 200 && answer.text == "1" && answer.fromCache == true)
        #expect(server.record.requests.map { $0.field("If-None-Match") } == [nil, "\"a\""])
    }

    @Test func aChangeRemoves() async throws {
        let server = try server(Self.hour)
        let driver = try DriverProcess("--cache", "private")
        _ = try await driver.fetch(1, server.baseURL)
        _ = try await driver.fetch(2, server.baseURL, ["method": "POST"])
        #expect(try await driver.fetch(3, server.baseURL).text == "3")
    }

    @Test func aRedirectThatWasShownIsStillFollowed() async throws {
        let server = try server(Self.hour)
        let driver = try DriverProcess("--cache", "private")
        let url = server.baseURL + "/moved"
        #expect(try await driver.fetch(1, url, ["redirect": "manual"]).status == 301)
        #expect(try await driver.fetch(2, url, ["redirect": "manual"]).fromCache == true)
        let followed = try await driver.fetch(3, url)
        #expect(followed.status == 200 && followed.fromCache == false)
    }
}

/// Counts, from any thread.
private final class Counter: @unchecked Sendable {
    // Unchecked: the lock guards the count.
    private let lock = NSLock()
    private var count = 0

    func next() -> Int {
        lock.withLock {
            count += 1
            return count
        }
    }
}
