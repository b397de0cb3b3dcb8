import FoundationEssentials
import HTTPTypes
import RxCache
import RxHTTP
import RxLite
import RxParameters
import RxTesting
import Testing

@testable import RxClient

@Suite struct RequestOptionsTests {
    @Test func areEmptyWithoutAnyOption() {
        #expect(RequestOptions().isEmpty)
    }

    /// Endpoints with empty options share those of the client.
    @Test(arguments: [
        RequestOptions(headers: ["X-App": "shop"]), RequestOptions(retry: .never),
        RequestOptions(timeouts: Timeouts()), RequestOptions(hedging: .after(.seconds(1))),
        RequestOptions(isIdempotent: false), RequestOptions(server: .main),
        RequestOptions(cachePolicy: .never), RequestOptions(cacheMode: .standard),
        RequestOptions(usesSession: true), RequestOptions(usesCookies: true), RequestOptions(isSigned: true),
        RequestOptions(usesParameterRewriting: true), RequestOptions(envelope: .absent),
        RequestOptions(contentTypes: .any), RequestOptions(part: "data"),
        RequestOptions(compressesContent: false), RequestOptions(decodesContent: true),
        RequestOptions(continuePolicy: .never), RequestOptions(presentation: .all),
        RequestOptions(willStart: { _ in }), RequestOptions(tags: ["search"]),
        RequestOptions(interceptors: Interceptors(call: [.idempotencyKeys()])),
    ])
    func areNotEmptyWithOneOption(_ options: RequestOptions) {
        #expect(!options.isEmpty)
    }

    @Test func aChangedCopyLeavesTheOthers() {
        let original = RequestOptions(headers: ["X-App": "shop"], tags: ["search"])
        var copy = original
        copy.headers = ["X-App": "other"]
        copy.tags.insert("more")
        copy.timeouts = .unlimited
        #expect(original.headers == ["X-App": "shop"] && original.tags == ["search"])
        #expect(original.timeouts == nil)
        #expect(copy.headers == ["X-App": "other"] && copy.tags == ["search", "more"])
        var empty = RequestOptions()
        empty.isSigned = false
        #expect(!empty.isEmpty && RequestOptions().isEmpty && RequestOptions().isSigned == nil)
    }

    /// Endpoints that add a parameter, and accept no empty list.
    private struct Listed: Endpoint {
        var path = "/goods"
        var options: RequestOptions { RequestOptions(headers: ["X-App": "shop"], tags: ["list"]) }

        func rewrite(_ parameters: Parameters) throws(NetworkError) -> Parameters {
            parameters.adding(["v": 2])
        }

        func output(from response: Response) throws(NetworkError) -> [Goods] {
            try response.decode([Goods].self)
        }

        func validate(_ response: TypedResponse<[Goods]>) throws(NetworkError) {
            if response.output.isEmpty { throw NetworkError(.noContent, "nothing to sell") }
        }
    }

    /// An endpoint takes other options at any call, and stays the same in everything else.
    @Test func withOtherOptions() throws {
        let fixture = PagingFixture { request in
            request.headerFields[.accept] == "text/event-stream"
                ? .bytes(Array("data: tea\n\n".utf8), headers: [.contentType: "text/event-stream"])
                : .goods(request.url.path == "/empty" ? [] : [1])
        }
        let client = fixture.client
        let endpoint = Listed().with { options in
            options.headers["X-Call"] = "one"
            options.tags.insert("call")
        }
        #expect(endpoint.options.tags == ["list", "call"])
        #expect(endpoint.isRepeatable && Listed().options.tags == ["list"])
        let files = MemoryFileSystem(on: fixture.clock)
        let progress = client.progress(of: endpoint).compactMap { event -> String? in
            if case .finished(let result) = event { "\(result.output.count)" } else { nil }
        }
        let download = client.download(endpoint, to: "/goods.json", in: files)
            .compactMap { event -> String? in
                if case .finished = event { "1" } else { nil }
            }
        let events = client.events(endpoint).compactMap { update -> String? in
            if case .message = update { "1" } else { nil }
        }
        let inline = InlineEndpoint.get("/goods", query: ["v": 2], headers: ["X-App": "shop"])
            .with { $0.headers["X-Call"] = "one" }
        let results: [Observable<String, NetworkError>] = [
            client.request(endpoint).map { "\($0.count)" },
            client.typedResponse(endpoint).map { "\($0.output.count)" }, progress,
            client.items(endpoint, .numbered(size: 1, last: .short)).take(1).map { "\($0.id)" },
            client.eachPage(endpoint, .numbered(size: 1)).take(1).map { "\($0.items.count)" },
            client.response(endpoint).map { _ in "1" },
            client.stream(endpoint).chunks().map { _ in "1" }, download, events.take(1),
            client.request(inline).map { _ in "1" },
        ]
        for (index, result) in results.enumerated() {
            let recorder = Recorder(result, on: fixture.clock)
            try fixture.clock.run()
            #expect(recorder.values == ["1"], "\(index): \(String(describing: recorder.failure))")
        }
        let states = Recorder(
            client.pages(endpoint, .numbered(size: 1), next: fixture.next), on: fixture.clock)
        try fixture.clock.run()
        #expect(states.values.last?.items.count == 1)
        #expect(fixture.transport.requests.count >= results.count + 1)
        for request in fixture.transport.requests {
            #expect(request.headerFields[HTTPField.Name("X-Call")!] == "one")
            #expect(request.headerFields[HTTPField.Name("X-App")!] == "shop")
            #expect(request.parameter("v") == "2")
        }
        let empty = Recorder(
            client.request(Listed(path: "/empty").with { $0.headers["X-Call"] = "one" }), on: fixture.clock)
        try fixture.clock.run()
        #expect(empty.failure?.code == .noContent)
    }

    /// A mode of the cache at the call: pull to refresh asks the server, the next call does not.
    @Test func reloads() throws {
        let fixture = PagingFixture { _ in .goods([1]) }
        let list = GoodsList().with { $0.cachePolicy = .time(.seconds(300)) }
        for reloads in [false, false, true, false] {
            let stream =
                reloads
                ? fixture.client.request(list.with { $0.cacheMode = .reload }) : fixture.client.request(list)
            let recorder = Recorder(stream, on: fixture.clock)
            try fixture.clock.run()
            #expect(recorder.values.count == 1)
        }
        #expect(fixture.transport.requests.count == 2)
    }
}
