import PlaygroundServer
import Testing

/// A response of the shop, as far as these tests check it.
private struct Reply<Payload: Decodable>: Decodable {
    var errcode: Int
    var msg: String
    var data: Payload?
}

private struct Page: Decodable {
    struct Item: Decodable { var id: Int }
    var list: [Item]
    var total: Int
}

@Suite(.timeLimit(.minutes(1)))
struct DemoAPITests {
    @Test func pagesAllGoods() async throws {
        let api = try await DemoAPI.start()
        var ids: [Int] = []
        for (page, count) in zip(1..., [10, 10, 10, 10, 7, 0]) {
            let answer = try await Answer("GET", "/goods?page=\(page)&pageSize=10", at: api.baseURL)
            let data = try #require(try answer.decoded(Reply<Page>.self).data)
            #expect(data.list.count == count)
            #expect(data.total == 47)
            ids += data.list.map(\.id)
        }
        #expect(ids == Array(1...47))
        await api.stop()
    }

    @Test(arguments: [
        ("GET", "/goods?page=0", 200, 10400), ("GET", "/goods?pageSize=x", 200, 10400),
        ("GET", "/goods/99", 200, 10404), ("GET", "/nothing", 404, 404), ("PUT", "/goods", 404, 404),
        ("POST", "/login", 400, 10400), ("GET", "/orders", 401, 11010), ("GET", "/legacy/orders", 200, 11010),
        ("GET", "/goods?failPage=1", 503, 10503),
    ])
    func refuses(method: String, target: String, status: Int, errcode: Int) async throws {
        let api = try await DemoAPI.start()
        let answer = try await Answer(method, target, at: api.baseURL)
        #expect(answer.status == status)
        let reply = try answer.decoded(Reply<String>.self)
        #expect(reply.errcode == errcode)
        #expect(!reply.msg.isEmpty)
        #expect(reply.data == nil)
        await api.stop()
    }

    @Test func isFlakyTwiceForEachKey() async throws {
        let api = try await DemoAPI.start()
        for key in ["a", "b"] {
            var answers: [Answer] = []
            for _ in 1...4 {
                answers.append(try await Answer("GET", "/flaky?key=\(key)", at: api.baseURL))
            }
            #expect(answers.map(\.status) == [503, 503, 200, 200])
            #expect(answers[0].head.contains("\r\nRetry-After: 1"))
        }
        await api.stop()
    }

    @Test func tokensExpireByCallAndByUse() async throws {
        let api = try await DemoAPI.start()
        func login() async throws -> String {
            let answer = try await Answer(
                "POST", "/login", at: api.baseURL, body: #"{"user":"ada","password":"tea"}"#)
            return try #require(try answer.decoded(Reply<[String: String]>.self).data?["token"])
        }
        func status(_ token: String) async throws -> Int {
            try await Answer(
                "GET", "/orders/1", at: api.baseURL, fields: ["Authorization": "Bearer \(token)"]
            )
            .status
        }
        let first = try await login()
        #expect(try await [status(first), status(first), status("other")] == [200, 200, 401])
        _ = try await Answer("POST", "/expire?uses=2", at: api.baseURL)
        #expect(try await status(first) == 401)
        let second = try await login()
        #expect(try await [status(second), status(second), status(second)] == [200, 200, 401])
        #expect(api.statistics.logins == 2)
        #expect(api.statistics.requests["GET /orders/1"] == 7)
        await api.stop()
    }

    @Test func downloadsAreCounted() async throws {
        let api = try await DemoAPI.start()
        let answer = try await Answer("GET", "/download?size=200000&rate=1000000000", at: api.baseURL)
        #expect(answer.head.contains("\r\nContent-Length: 200000"))
        #expect(api.statistics.downloadsFinished == 1)
        #expect(api.statistics.downloadedBytes == 200_000)
        #expect(api.statistics.downloadsAborted == 0)
        await api.stop()
    }
}
