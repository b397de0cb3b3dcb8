import FoundationEssentials
import HTTPTypes
import RxHTTP
import RxLite
import RxParameters
import RxTesting
import Testing

@testable import RxClient

/// Pages joined by `Link`, and all items as one stream.
@Suite struct LinkPagingTests {
    /// Links are followed to the last page; relative ones are resolved against the request's URL.
    @Test func follows() throws {
        let fixture = PagingFixture { request in
            switch request.url.query() {
            case nil: .goods([1], link: #"<?page=2>; rel="next", </>; rel=first"#)
            case "page=2": .goods([2], link: #"</goods?page=3&x=y>; rel="last next""#)
            default: .goods([3], link: #"</goods>; rel="first""#)
            }
        }
        let recorder = fixture.record(.link)
        for _ in 0..<4 {
            try fixture.clock.run()
            fixture.next.send()
        }
        #expect(
            recorder.values.map(\.text) == ["first", "idle 1", "more 1", "idle 1,2", "more 1,2", "end 1,2,3"])
        #expect(
            fixture.transport.requests.map { String($0.url.absoluteString.dropFirst(17)) }
                == ["/goods", "/goods?page=2", "/goods?page=3&x=y"])
    }

    /// Each page is signed for itself, also where the link repeats the signature of the page before.
    @Test func signed() throws {
        let clock = VirtualScheduler()
        let transport = ScriptedTransport(on: clock) { request in
            switch request.parameter("page") {
            case nil: .goods([1], link: #"</goods?page=2>; rel="next""#)
            case "2":
                .goods([2], link: #"</goods?page=3&sign=\#(request.parameter("sign") ?? "")>; rel="next""#)
            default: .goods([3])
            }
        }
        var configuration = ClientConfiguration(baseURL: "https://shop.test")
        configuration.signature = .parameters { content in
            ["sign": content.canonicalQuery.split(separator: "=").joined(separator: "-")]
        }
        let client = Client(configuration: configuration, transport: transport)
        let all = Recorder(client.items(GoodsList(keyword: "tea"), .link), on: clock)
        try clock.run()
        #expect(all.values.map(\.id) == [1, 2, 3])
        #expect(
            transport.requests.map { $0.url.query() } == [
                "keyword=tea&sign=keyword-tea", "page=2&sign=page-2", "page=3&sign=page-3",
            ])
    }

    /// A link at the origin of either server keeps the credential, also outside of the base path.
    @Test func standbyLink() throws {
        for server in ["main", "standby"] {
            let clock = VirtualScheduler()
            let transport = ScriptedTransport(on: clock) { request in
                request.url.path() == "/api/goods"
                    ? .goods([1], link: "<https://\(server).test/other>; rel=next") : .goods([2])
            }
            var configuration = ClientConfiguration(baseURL: "https://main.test/api")
            configuration.standbyURL = "https://standby.test/api"
            configuration.options.headers = ["Authorization": "Bearer t"]
            let client = Client(configuration: configuration, transport: transport)
            client.servers.use(.standby)
            let all = Recorder(client.items(GoodsList(), .link), on: clock)
            try clock.run()
            #expect(all.values.map(\.id) == [1, 2])
            #expect(transport.requests.map { $0.headerFields[.authorization] } == ["Bearer t", "Bearer t"])
            #expect(transport.requests.last?.url.absoluteString == "https://\(server).test/other")
        }
    }

    /// A page that links to itself: its items stay, then the list fails, and only a reload continues it.
    @Test func circle() throws {
        let fixture = PagingFixture { request in
            .goods([request.parameter("page") == nil ? 1 : 2], link: #"</goods?page=2>; rel=next"#)
        }
        let recorder = fixture.record(.link)
        for _ in 0..<4 {
            try fixture.clock.run()
            fixture.next.send()
        }
        #expect(recorder.texts == ["first", "idle 1", "more 1", "failed(paging) 1,2"])
        #expect(recorder.values.last?.page == 2)
        #expect(fixture.transport.requests.count == 2)
        fixture.reload.send()
        try fixture.clock.run()
        #expect(recorder.texts.suffix(2) == ["first 1,2", "idle 1"])

        let all = Recorder(fixture.client.items(GoodsList(), .link), on: fixture.clock)
        try fixture.clock.run()
        #expect(all.values.map(\.id) == [1, 2])
        #expect(all.failure?.code == .paging)

        let toItself = PagingFixture { _ in .goods([1], link: #"</goods>; rel=next"#) }
        let first = toItself.record(.link)
        try toItself.clock.run()
        #expect(first.values.last?.text == "failed(paging) 1")
    }

    /// The items of the page before such an error all arrive, also after a pause.
    @Test func circleWithPause() throws {
        let fixture = PagingFixture { _ in .goods([1, 2, 3], link: #"</goods>; rel=next"#) }
        let recorder = Recorder(fixture.client.items(GoodsList(), .link), on: fixture.clock)
        recorder.pause()
        try fixture.clock.run()
        #expect(recorder.completion == nil)
        recorder.resume()
        try fixture.clock.run()
        #expect(recorder.values.map(\.id) == [1, 2, 3])
        #expect(recorder.failure?.code == .paging)
        #expect(fixture.transport.requests.count == 1)
    }

    /// The end of a list is successful, even if the next link of the last page is invalid.
    @Test(arguments: ["</goods>; rel=next", "<ftp://shop.test/>; rel=next"])
    func endBeforeCircle(link: String) throws {
        for (ids, options) in [
            ([], PagingOptions<Goods>()), ([1], PagingOptions(maxPages: 1)),
            ([1], PagingOptions(maxItems: 1)),
        ] {
            let fixture = PagingFixture { _ in .goods(ids, link: link) }
            let recorder = fixture.record(.link, options: options)
            let all = Recorder(fixture.client.items(GoodsList(), .link, options: options), on: fixture.clock)
            try fixture.clock.run()
            #expect(recorder.values.last?.phase == .end)
            #expect(recorder.values.last?.items.map(\.id) == ids)
            #expect(all.values.map(\.id) == ids)
            #expect(all.isFinished)
        }
    }

    /// Empty pages whose links lead in a circle end the list.
    @Test func emptyPage() throws {
        let fixture = PagingFixture { _ in .goods([], link: #"</goods?page=2>; rel=next"#) }
        let recorder = fixture.record(.link)
        try fixture.clock.run()
        #expect(recorder.values.last?.phase == .end)
    }

    /// A next link to another origin gets no credentials.
    @Test(arguments: [
        ("https://other.test/2", true), ("http://shop.test/2", true), ("https://shop.test:8443/2", true),
        ("//other.test/2", true), ("https://shop.test@other.test/2", true), ("/2", false),
        ("https://SHOP.test:443/2", false),
    ])
    func otherOrigin(link: String, isOther: Bool) throws {
        let clock = VirtualScheduler()
        let transport = ScriptedTransport(on: clock) { request in
            request.url.path == "/2"
                ? .json("[]", status: .unauthorized) : .goods([1], link: "<\(link)>; rel=next")
        }
        var configuration = ClientConfiguration(baseURL: "https://shop.test")
        configuration.userAgent = nil
        configuration.options.headers = [
            "Authorization": "Basic x", "Cookie": "a=b", "X-Key": "k", "X-App": "1",
        ]
        configuration.secretFields = [try #require(HTTPField.Name("X-Key"))]
        configuration.session = Session(
            credential: Credential(token: "t"), placement: .header("X-Token"), clock: clock
        ) { .fail(NetworkError(.connect, "login")) }
        let client = Client(configuration: configuration, transport: transport)
        let recorder = Recorder(client.items(GoodsList(), .link), on: clock)
        try clock.run()
        let second = try #require(transport.requests.last)
        #expect(second.url.path == "/2")
        let names = Set(second.headerFields.map(\.name.canonicalName))
        #expect(names == (isOther ? ["x-app"] : ["authorization", "cookie", "x-key", "x-app", "x-token"]))
        #expect((second.credentialVersion == nil) == isOther)
        // Its refusal does not affect this session.
        #expect(recorder.failure?.code == (isOther ? .status : .connect))
    }

    /// A link to a URL that is not http is an error, and nothing is sent there.
    @Test(arguments: [
        "ftp://other.test/2", "file:///etc/passwd", "javascript:alert(1)", "https:", "",
    ])
    func otherSchemes(link: String) throws {
        let fixture = PagingFixture { _ in .goods([1], link: "<\(link)>; rel=next") }
        let all = Recorder(fixture.client.items(GoodsList(), .link), on: fixture.clock)
        let recorder = fixture.record(.link)
        for _ in 0..<2 {
            try fixture.clock.run()
            fixture.next.send()
        }
        #expect(all.values.map(\.id) == [1])
        #expect(all.failure?.code == .paging)
        #expect(recorder.texts == ["first", "failed(paging) 1"])
        #expect(fixture.transport.requests.count == 2)
    }

    /// A link to another origin is followed by GET and HEAD only.
    @Test(arguments: [
        ("GET", "https://other.test/2", true), ("HEAD", "https://other.test/2", true),
        ("POST", "https://other.test/2", false), ("PUT", "http://shop.test/2", false),
        ("QUERY", "//other.test/2", false), ("POST", "/2", true),
    ])
    func methodsElsewhere(method: String, link: String, isFollowed: Bool) throws {
        let fixture = PagingFixture { request in
            request.url.path == "/2" ? .goods([2]) : .goods([1], link: "<\(link)>; rel=next")
        }
        var list = GoodsList()
        list.method = try #require(HTTPRequest.Method(method))
        let all = Recorder(fixture.client.items(list, .link), on: fixture.clock)
        try fixture.clock.run()
        #expect(all.values.map(\.id) == (isFollowed ? [1, 2] : [1]))
        #expect(all.failure?.code == (isFollowed ? nil : .paging))
        #expect(fixture.transport.requests.count == (isFollowed ? 2 : 1))
    }

    /// Numbered pages of `size`, `count` pages in all, each delivered in the instant of its request.
    private func endless(pages count: Int, size: Int) -> PagingFixture {
        PagingFixture { request in
            let page = request.parameter("page").flatMap { Int($0) } ?? 0
            let ids = page <= count ? Array((page - 1) * size..<page * size) : []
            return .json("[" + ids.map { #"{"id":\#($0),"name":""}"# }.joined(separator: ",") + "]")
        }
    }

    /// All items as one stream; nothing is loaded before the subscription.
    @Test func items() throws {
        let fixture = endless(pages: 3, size: 2)
        let stream = fixture.client.items(GoodsList(), .numbered(size: 2))
        try fixture.clock.run()
        #expect(fixture.asked.isEmpty)
        let recorder = Recorder(stream, on: fixture.clock)
        try fixture.clock.run()
        #expect(recorder.values.map(\.id) == Array(0..<6))
        #expect(recorder.isFinished)
        #expect(fixture.asked == [1, 2, 3, 4])
    }

    /// Take() stops the loading.
    @Test func take() throws {
        let fixture = endless(pages: 1000, size: 2)
        let recorder = Recorder(
            fixture.client.items(GoodsList(), .numbered(size: 2)).take(3), on: fixture.clock)
        try fixture.clock.run()
        #expect(recorder.values.map(\.id) == [0, 1, 2])
        #expect(fixture.asked == [1, 2])
        #expect(fixture.transport.runningCount == 0)
    }

    /// Backpressure: while paused no further page is requested.
    @Test func backpressure() throws {
        let fixture = PagingFixture { request in
            let page = request.parameter("page").flatMap { Int($0) } ?? 0
            return .goods(page <= 5 ? [2 * page, 2 * page + 1] : [])
        }
        let recorder = Recorder(fixture.client.items(GoodsList(), .numbered(size: 2)), on: fixture.clock)
        try fixture.clock.advance(by: .milliseconds(15))
        #expect(fixture.asked == [1, 2])
        recorder.pause()
        try fixture.clock.advance(by: .seconds(9))
        #expect(fixture.asked == [1, 2])
        #expect(recorder.values.count == 2)
        recorder.resume()
        try fixture.clock.run()
        #expect(recorder.values.map(\.id) == Array(2..<12))
        #expect(recorder.isFinished)

        let pausedByItself = Recorder(
            fixture.client.items(GoodsList(), .numbered(size: 2)), on: fixture.clock)
        pausedByItself.pause()
        try fixture.clock.run()
        pausedByItself.cancel()
        #expect(fixture.transport.runningCount == 0)
    }

    /// Pages wait for a consumer that is slower than the server.
    @Test func slowConsumer() throws {
        let fixture = endless(pages: 3, size: 20)
        let slow = fixture.client.items(GoodsList(), .numbered(size: 20)).flatMap(.concat) {
            [clock = fixture.clock] goods in
            Observable<Void, NetworkError>.timer(.seconds(1), on: clock).map { goods.id }
        }
        let recorder = Recorder(slow, on: fixture.clock)
        try fixture.clock.advance(by: .milliseconds(100))
        #expect(fixture.asked == [1])
        try fixture.clock.run()
        #expect(recorder.values == Array(0..<60))
        #expect(recorder.isFinished)
        #expect(fixture.asked == [1, 2, 3, 4])
    }

    /// The first failure ends it, after the items before.
    @Test func failure() throws {
        let script = Script([.goods([1, 2]), .failure(.connectionLost)])
        let fixture = PagingFixture { _ in script.next() }
        let recorder = Recorder(fixture.client.items(GoodsList(), .numbered(size: 2)), on: fixture.clock)
        try fixture.clock.run()
        #expect(recorder.values.map(\.id) == [1, 2])
        #expect(recorder.failure?.code == .connectionLost)
    }

    /// Ten thousand immediate pages need no more stack than one.
    @Test func manyPages() throws {
        let clock = VirtualScheduler()
        let client = Client(
            configuration: ClientConfiguration(baseURL: "https://shop.test"),
            transport: AtOnce(clock: clock))
        let recorder = Recorder(client.items(GoodsList(), .numbered(size: 1)), on: clock)
        // Only the numbers: #expect describes its operands, ten thousand events in turn.
        let (count, isFinished) = (recorder.values.count, recorder.isFinished)
        #expect(count == 10_000)
        #expect(isFinished)
    }
}

/// Ten thousand pages of one item, delivered within the requesting call.
private struct AtOnce: Transport {
    let clock: VirtualScheduler
    var scheduler: any Scheduler { clock }

    func send(_ request: Request) -> Observable<TransferEvent, NetworkError> {
        let page = request.parameter("page").flatMap { Int($0) } ?? 0
        let body = page <= 10_000 ? #"[{"id":\#(page),"name":""}]"# : "[]"
        return Observable(scheduler: clock) { observer in
            Observable<TransferEvent, NetworkError>
                .sequence([
                    .head(ResponseHead(status: .ok)), .chunk(Array(body.utf8)), .finished(TransferMetrics()),
                ])
                .subscribe(observer)
        }
    }
}
