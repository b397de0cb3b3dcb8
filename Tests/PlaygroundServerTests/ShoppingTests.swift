import PlaygroundServer
import Testing

private struct Reply<Payload: Decodable>: Decodable {
    var errcode: Int
    var msg: String
    var data: Payload?
}

private struct Cart: Decodable {
    struct Line: Decodable, Equatable {
        var goods: Int
        var number: Int
    }
    var lines: [Line]
    var price: Double
}

private struct Picture: Decodable, Equatable {
    var fileName: String
    var contentType: String
    var bytes: Int
}

@Suite(.timeLimit(.minutes(1)))
struct ShoppingTests {
    private func logIn(_ api: DemoAPI) async throws -> [String: String] {
        let answer = try await Answer(
            "POST", "/login", at: api.baseURL, body: #"{"user":"ada","password":"tea"}"#)
        #expect(answer.head.contains("\r\nSet-Cookie: visitor=ada; Path=/; Max-Age=86400; HttpOnly"))
        let token = try #require(try answer.decoded(Reply<[String: String]>.self).data?["token"])
        return ["Authorization": "Bearer \(token)"]
    }

    @Test func cartsFillUntilTheStockIsGoneAndTheUserHasLeft() async throws {
        let api = try await DemoAPI.start()
        let fields = try await logIn(api)
        func add(_ goods: Int, _ number: Int) async throws -> Reply<Cart> {
            let body = #"{"goods":\#(goods),"number":\#(number)}"#
            return try await Answer("POST", "/cart", at: api.baseURL, fields: fields, body: body)
                .decoded(Reply<Cart>.self)
        }
        #expect(try await add(7, 2).data?.lines == [Cart.Line(goods: 7, number: 2)])
        #expect(try await add(7, 57).data?.lines == [Cart.Line(goods: 7, number: 59)])
        #expect(try await add(7, 1).errcode == 10409)
        #expect(try await add(99, 1).errcode == 10404)
        #expect(try await add(7, 0).errcode == 10400)
        #expect(try await add(7, .max).errcode == 10400)
        let cart = try await Answer("GET", "/cart", at: api.baseURL, fields: fields).decoded(Reply<Cart>.self)
        #expect(cart.data?.lines == [Cart.Line(goods: 7, number: 59)])
        #expect(cart.data?.price == 59 * 10.75)

        #expect(try await Answer("POST", "/logout", at: api.baseURL, fields: fields).status == 200)
        #expect(try await Answer("GET", "/cart", at: api.baseURL, fields: fields).status == 401)
        let again = try await Answer("GET", "/cart", at: api.baseURL, fields: try await logIn(api))
        #expect(try again.decoded(Reply<Cart>.self).data?.lines == [])
        await api.stop()
    }

    @Test(arguments: [
        (
            "multipart/form-data; boundary=b",
            "--b\r\nContent-Disposition: form-data; name=\"album\"\r\n\r\ntea time\r\n"
                + "--b\r\nContent-Disposition: form-data; name=\"picture\"; filename=\"a.png\"\r\n"
                + "Content-Type: image/png\r\n\r\n1\r\n2\r\n--b--\r\n",
            Picture(fileName: "a.png", contentType: "image/png", bytes: 4)
        ),
        ("multipart/form-data; boundary=b", "--b\r\n\r\nno file\r\n--b--", nil),
        ("multipart/form-data; boundary=b", "--b\r\nno gap\r\n--b--", nil),
        ("multipart/form-data; boundary=b", "", nil), ("multipart/form-data", "--b\r\n", nil),
        ("image/png", "1234", nil),
    ])
    fileprivate func picturesComeInForms(contentType: String, form: String, picture: Picture?) async throws {
        let api = try await DemoAPI.start()
        var fields = try await logIn(api)
        fields["Content-Type"] = contentType
        let reply = try await Answer("POST", "/pictures", at: api.baseURL, fields: fields, body: form)
            .decoded(Reply<Picture>.self)
        #expect(reply.data == picture)
        #expect(reply.errcode == (picture == nil ? 10400 : 200))
        await api.stop()
    }

    @Test func ordersAreExecutedOnceForEachKey() async throws {
        let api = try await DemoAPI.start()
        struct Confirmation: Decodable, Equatable {
            var id: Int
            var goods: String
            var number: Int
        }
        func place(_ body: String, _ key: String?) async throws -> (Int, Confirmation?) {
            let answer = try await Answer(
                "POST", "/orders", at: api.baseURL, fields: key.map { ["Idempotency-Key": $0] } ?? [:],
                body: body)
            return (answer.status, try answer.decoded(Reply<Confirmation>.self).data)
        }
        let order = #"{"goods":7,"number":2}"#
        let first = try await place(order, "a")
        #expect(first.0 == 200 && first.1?.number == 2)
        #expect(try await place(order, "a") == first)
        #expect(try await place(#"{"goods":7,"number":3}"#, "a") == (400, nil))
        #expect(try await place(order, nil) == (400, nil))
        #expect(try await place(order, "b").1?.id != first.1?.id)
        #expect(api.statistics.ordersPlaced == 2)
        #expect(api.statistics.ordersRepeated == 1)
        await api.stop()
    }

    @Test(
        arguments: [
            ([:], 200, nil, 5000), (["Range": "bytes=4000-"], 206, "bytes 4000-4999/5000", 1000),
            (["Range": "bytes=4000-", "If-Range": "\"brochure-5000\""], 206, "bytes 4000-4999/5000", 1000),
            (["Range": "bytes=4000-", "If-Range": "\"another\""], 200, nil, 5000),
            (["Range": "bytes=1000-1999"], 206, "bytes 1000-1999/5000", 1000),
            (["Range": "bytes=4000-9999"], 206, "bytes 4000-4999/5000", 1000),
            (["Range": "bytes=0-0"], 206, "bytes 0-0/5000", 1), (["Range": "bytes=2-1"], 200, nil, 5000),
            (["Range": "bytes=5000-6000"], 416, "bytes */5000", 0),
            (["Range": "bytes=5000-"], 416, "bytes */5000", 0), (["Range": "bytes=1-2,4-5"], 200, nil, 5000),
            (["Range": "bytes=99999999999999999999-"], 200, nil, 5000),
        ] as [([String: String], Int, String?, Int)])
    func brochuresComeInParts(fields: [String: String], status: Int, range: String?, length: Int) async throws
    {
        let api = try await DemoAPI.start()
        let answer = try await Answer(
            "GET", "/brochure?size=5000&rate=1000000000", at: api.baseURL, fields: fields)
        #expect(answer.status == status)
        #expect(answer.head.contains("\r\nContent-Length: \(length)"))
        #expect(answer.head.contains("\r\nETag: \"brochure-5000\""))
        #expect(range.map { answer.head.contains("\r\nContent-Range: \($0)") } ?? true)
        await api.stop()
    }

    @Test func brochuresBreakOnce() async throws {
        let api = try await DemoAPI.start()
        let target = "/brochure?size=200000&rate=1000000000&breakAfter=65536&run=a"
        _ = try await Answer("GET", target, at: api.baseURL)
        #expect(api.statistics.downloadedBytes == 65536)
        #expect(api.statistics.downloadsFinished == 0)
        _ = try await Answer("GET", target, at: api.baseURL)
        #expect(api.statistics.downloadedBytes == 265_536)
        #expect(api.statistics.downloadsFinished == 1)
        await api.stop()
    }

    @Test func answersBreakOnceAndContinueAfterAPrefix() async throws {
        let api = try await DemoAPI.start()
        func events(_ body: String) async throws -> [String] {
            let answer = try await Answer(
                "POST", "/answers?breakAfter=4&run=a", at: api.baseURL, body: body)
            #expect(answer.head.contains("\r\nContent-Type: text/event-stream"))
            return answer.body.split(whereSeparator: \.isNewline).filter { $0.hasPrefix("data: ") }
                .map(String.init)
        }
        let first = try await events(#"{"prompt":"tea"}"#)
        #expect(first == ["For", "tea", "take", "a"].map { #"data: {"text":"\#($0)"}"# })
        let rest = try await events(#"{"prompt":"tea","prefix":"For tea take a"}"#)
        #expect(rest.first == #"data: {"text":"spoon"}"#)
        #expect(rest.last == "data: [DONE]")
        #expect(rest.count == 8)
        let other = try await Answer(
            "POST", "/answers", at: api.baseURL, body: #"{"prompt":"tea","prefix":"For milk"}"#)
        #expect(try other.decoded(Reply<String>.self).errcode == 10400)
        await api.stop()
    }

    @Test func closesAndOpens() async throws {
        let api = try await DemoAPI.start()
        _ = try await Answer("PUT", "/closed/yes", at: api.baseURL)
        #expect(try await Answer("GET", "/offers", at: api.baseURL).status == 503)
        #expect(try await Answer("GET", "/stats", at: api.baseURL).status == 200)
        _ = try await Answer("PUT", "/closed/no", at: api.baseURL)
        let offers = try await Answer("GET", "/offers", at: api.baseURL)
        #expect(offers.status == 200)
        #expect(offers.head.contains("\r\nCache-Control: max-age=60"))
        let fields = ["If-None-Match": "\"offers-1\""]
        let again = try await Answer("GET", "/offers", at: api.baseURL, fields: fields)
        #expect(again.status == 304)
        #expect(again.body.isEmpty)
        await api.stop()
    }
}
