import Foundation
import RxNetworking
import RxTesting
import Synchronization
import TestServers
import Testing

/// The app of a shop, whose former layer had a class for each request, a delegate for its response and another for its
/// parameters (`BaseAPIRequest`, `BaseAPIProxy`, `PageAPIRequest`).
@Suite(.timeLimit(.minutes(1))) struct MallTests {
    struct Goods: Decodable, Equatable, Sendable {
        let id: String
        let name: String
        let price: String
    }

    struct GoodsList: Endpoint {
        typealias Output = [Goods]
        let path = "/mall/shopList"
        let method = HTTPRequest.Method.post

        func validate(_ response: TypedResponse<[Goods]>) throws(NetworkError) {
            if response.output.isEmpty { throw NetworkError(.noContent, "the shop is empty") }
        }
    }

    struct AddToCart: Endpoint {
        typealias Output = Void
        let goods: String
        let path = "/mall/addCart"
        let method = HTTPRequest.Method.post
        var parameters: Parameters { .json(["goods_id": goods, "number": "1"]) }
    }

    private struct Login: Decodable, Sendable { let token: String }

    /// The objects that all screens share.
    private struct App {
        let client: Client
        let session: Session

        init(_ server: RawServer, cookies: CookieJar? = nil, reachability: (any Reachability)? = nil) {
            var configuration = ClientConfiguration(baseURL: server.baseURL)
            configuration.options.timeouts = Timeouts(total: .seconds(10))
            configuration.options.envelope = Envelope(
                code: "errcode", message: "msg", payload: "data", success: 200, loginExpired: 11010)
            configuration.cookies = cookies
            configuration.reachability = reachability
            let visitor = Client(configuration: configuration)
            session = Session {
                visitor.post("/login", ["user": "ada", "password": "tea"])
                    .decode(Login.self)
                    .map { Credential(token: $0.token) }
            }
            configuration.session = session
            client = Client(configuration: configuration)
        }
    }

    /// A shop with 25 goods that forgets its logins when it is told to.
    private final class Shop: Sendable {
        private struct Contents {
            var logins = 0
            var hasForgotten = false
            var forgetsAll = false
        }

        private let contents = Mutex(Contents())

        var logins: Int { contents.withLock { $0.logins } }

        func forgetLogins() { contents.withLock { $0.hasForgotten = true } }
        func refuseEverybody() { contents.withLock { $0.forgetsAll = true } }

        func server() throws -> RawServer { try RawServer { [self.answer($0)] } }

        private func answer(_ request: RawServer.Request) -> RawServer.Step {
            if request.target == "/login" { return logIn() }
            guard isKnown(request) else { return .respond(body: #"{"errcode":11010,"msg":"登录超时"}"#) }
            switch request.target {
            case "/mall/shopList": return goods(request)
            case "/mall/addCart" where request.text.contains(#""goods_id":"1""#): return success("null")
            case "/mall/addCart": return .respond(body: #"{"errcode":500,"msg":"售罄"}"#)
            default: return success("[]")
            }
        }

        private func logIn() -> RawServer.Step {
            let number = contents.withLock { contents in
                contents.hasForgotten = false
                contents.logins += 1
                return contents.logins
            }
            return success(#"{"token":"t\#(number)"}"#, ["Set-Cookie": "visitor=ada; Max-Age=3600"])
        }

        private func isKnown(_ request: RawServer.Request) -> Bool {
            contents.withLock { contents in
                !contents.hasForgotten && !contents.forgetsAll
                    && request.field("Authorization") == "Bearer t\(contents.logins)"
            }
        }

        private func goods(_ request: RawServer.Request) -> RawServer.Step {
            let parameters = (try? JSONDecoder().decode([String: Int].self, from: Data(request.body))) ?? [:]
            let goods = (1...25).dropFirst(parameters["page_start"] ?? 0).prefix(parameters["pageSize"] ?? 2)
                .map { #"{"id":"\#($0)","name":"goods \#($0)","price":"9"}"# }
            return success("[" + goods.joined(separator: ",") + "]")
        }

        private func success(
            _ payload: String, _ fields: KeyValuePairs<String, String> = [:]
        ) -> RawServer.Step {
            .respond(200, fields, body: #"{"errcode":200,"msg":"操作成功","data":\#(payload)}"#)
        }
    }

    // MARK: - Screens

    /// A list of goods, with the login on its way.
    @Test func goods() async throws {
        let shop = Shop()
        let server = try shop.server()
        let app = App(server)
        let goods = try await app.client.request(GoodsList()).value()
        #expect(goods.map(\.name) == ["goods 1", "goods 2"])
        #expect(shop.logins == 1)
    }

    /// The spinner is on for as long as the request, and the server's message is the tip.
    @Test func spinnerAndTip() async throws {
        let shop = Shop()
        let server = try shop.server()
        let app = App(server)
        let tips = app.client.errorTips.share(replay: 1)
        let spinner = Mutex<[Bool]>([])
        let shown = tips.subscribe()
        let subscription = app.client.activity.isActive.observable
            .subscribe { isOn in spinner.withLock { $0.append(isOn) } }
        try await app.client.request(AddToCart(goods: "1")).value()
        #expect(spinner.withLock { $0 } == [false, true, false])
        let error = await #expect(throws: NetworkError.self) {
            try await app.client.request(AddToCart(goods: "2")).value()
        }
        #expect(error?.code == .envelope && error?.message == "售罄")
        #expect(try await tips.value().message == "售罄")
        subscription.cancel()
        shown.cancel()
    }

    /// A request may keep its failure to itself.
    @Test func noTip() async throws {
        let shop = Shop()
        let server = try shop.server()
        let app = App(server)
        let tips = Mutex<[String]>([])
        let subscription = app.client.errorTips.subscribe { error in
            tips.withLock { $0.append(error.message) }
        }
        let options = RequestOptions(presentation: [.indicator, .accessories])
        let quiet = app.client.post("/mall/addCart", ["goods_id": "2"], options: options)
        await #expect(throws: NetworkError.self) { try await quiet.value() }
        await #expect(throws: NetworkError.self) {
            try await app.client.request(AddToCart(goods: "3")).value()
        }
        #expect(tips.withLock { $0 } == ["售罄"])
        subscription.cancel()
    }

    /// An empty list is the failure of its validator.
    @Test func validator() async throws {
        struct EmptyList: Endpoint {
            typealias Output = [Goods]
            let path = "/mall/nothing"
            func validate(_ response: TypedResponse<[Goods]>) throws(NetworkError) {
                try GoodsList().validate(response)
            }
        }
        let server = try Shop().server()
        let app = App(server)
        let error = await #expect(throws: NetworkError.self) {
            try await app.client.request(EmptyList()).value()
        }
        #expect(error?.code == .noContent)
    }

    /// An expired login is renewed once for all requests; when that does not help, the login is over.
    @Test func relogin() async throws {
        let shop = Shop()
        let server = try shop.server()
        let app = App(server)
        _ = try await app.client.request(GoodsList()).value()
        shop.forgetLogins()
        let lists = Observable.zip((1...5).map { _ in app.client.request(GoodsList()) })
        #expect(try await lists.value().count == 5)
        #expect(shop.logins == 2)
        shop.refuseEverybody()
        let error = await #expect(throws: NetworkError.self) {
            try await app.client.request(GoodsList()).value()
        }
        #expect(error?.code == .loginExpired)
        #expect(shop.logins == 3, "one more login, and no further")
    }

    /// A reload cancels the load before it.
    @Test func reload() async throws {
        let stuck = try RawServer {
            $0.index == 0 && $0.connection == 0
                ? [.waitForClientClose] : [.respond(body: #"{"errcode":200,"data":[]}"#)]
        }
        var configuration = ClientConfiguration(baseURL: stuck.baseURL)
        configuration.options.envelope = Envelope(
            code: "errcode", message: "msg", payload: "data", success: 200)
        let client = Client(configuration: configuration)
        let pulled = Signal<Void>()
        let loads = pulled.observable.flatMap(.latest) { client.get("/list") }.share(replay: 1)
        let subscription = loads.subscribe(onNext: { _ in }, onFailure: { _ in })
        pulled.send()
        _ = try await stuck.nextRequest()
        pulled.send()
        #expect(try await loads.value().status == .ok)
        #expect(try await stuck.connectionEnded(0) != .script, "the client has closed the first one")
        subscription.cancel()
    }

    /// A list grows page by page, until a short page ends it, and starts over.
    @Test func pages() async throws {
        struct Category: Endpoint {
            typealias Output = [Goods]
            let number: Int
            let path = "/mall/shopList"
            let method = HTTPRequest.Method.post
            var parameters: Parameters { .json(["category": number]) }
        }
        let server = try Shop().server()
        let app = App(server)
        let (more, again) = (Signal<Void>(), Signal<Void>())
        let rule = PagingRule.numbered(size: 10, startKey: "page_start", last: .short)
        let list = app.client.pages(Category(number: 3), rule, next: more, reload: again).share(replay: 1)
        let subscription = list.subscribe()
        for count in [10, 20, 25] {
            let state = try await list.filter { $0.items.count == count && !$0.phase.isLoading }.value()
            #expect(state.items.map(\.id) == (1...count).map { "\($0)" })
            #expect(state.hasMore == (count < 25))
            more.send()
        }
        let last = try #require(server.record.requests.last)
        let parameters = try JSONDecoder().decode([String: Int].self, from: Data(last.body))
        #expect(parameters == ["category": 3, "page": 3, "pageSize": 10, "page_start": 20])
        again.send()
        #expect(try await list.filter { $0.items.count == 10 }.value().hasMore)
        subscription.cancel()
    }

    /// Cookies outlive the app.
    @Test func cookies() async throws {
        let (server, folder) = (try Shop().server(), try TemporaryFolder())
        let first = CookieJar(file: folder.file("cookies"))
        _ = try await App(server, cookies: first).client.request(GoodsList()).value()
        try await first.flush().value()
        let second = CookieJar(file: folder.file("cookies"))
        _ = try await App(server, cookies: second).client.request(GoodsList()).value()
        #expect(server.record.requests.last?.field("Cookie") == "visitor=ada")
    }

    /// Without a network a request fails at once.
    @Test func noNetwork() async throws {
        let server = try Shop().server()
        let app = App(server, reachability: ScriptedReachability(.unreachable))
        let error = await #expect(throws: NetworkError.self) {
            try await app.client.request(GoodsList()).value()
        }
        #expect(error?.code == .unreachable)
        #expect(server.record.requests.isEmpty)
    }
}
