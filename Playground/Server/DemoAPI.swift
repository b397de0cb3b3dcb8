import FlyingFox

/// The API of a small shop on loopback, for the recipes of the tour: paging, temporary failures, a login that expires,
/// a cart, uploads, slow and broken downloads. It counts its requests.
///
/// Options are in the query of a request. For events that happen once, the caller chooses a `run` or `key`, so that
/// runs do not affect each other. All state ends with the process.
///
/// | request | response |
/// |---|---|
/// | `GET /goods?page=1&pageSize=10` | a page of the 47 goods; with `failPage=3&run=a` page 3 fails once with 503, with `stallPage=3&run=a` it gets no response once; with `keyword=oolong` those with the word in their names |
/// | `GET /goods/7` | one article; errcode 10404 for an unknown id |
/// | `GET /offers` | three articles, fresh for a minute (`Cache-Control`), or 304 for their `ETag` |
/// | `GET /flaky?key=a` | 503 with `Retry-After: 1` twice, then 200; `times` and `after` change the numbers |
/// | `POST /login` | a token for `{"user":"ada","password":"tea"}`, after 200 ms, and the cookie `visitor`; otherwise 401 and errcode 11001 |
/// | `POST /logout` | makes the token of the request invalid and empties the cart |
/// | `GET /.well-known/oauth-authorization-server` | the metadata of the shop's authorization server, which knows the client `tour` |
/// | `POST /oauth/device` | a device code (RFC 8628), which is valid for ten minutes and may be asked about every second |
/// | `POST /oauth/token` | tokens for a device code or a refresh token; `authorization_pending`, `slow_down`, `expired_token`, `access_denied` and, also for a refresh token that is used twice, `invalid_grant` |
/// | `GET /device`, `POST /device` | the page for the code, and its form: `user_code`, `user`, `password`, and `answer`, which is `allow` or `deny` |
/// | `GET /cart` | the cart of the token's user |
/// | `POST /cart` | adds `{"goods":7,"number":2}` to it; errcode 10404 for unknown goods, 10409 for more than are in stock |
/// | `POST /pictures?rate=6553600` | receives the file of a form, at about `rate` bytes a second; responds with its name, type and length |
/// | `GET /orders`, `/orders?page=1&pageSize=5`, `/orders/7` | the orders, a page of them or one, with a valid `Authorization: Bearer`; otherwise 401; `failPage` as for goods |
/// | `GET /legacy/orders`, `/legacy/orders/7` | the same, but errcode 11010 and status 200 without a valid token |
/// | `POST /orders` | executes the order `{"goods":7,"number":2}`, once for each `Idempotency-Key` |
/// | `PUT /silent/yes` | until `PUT /silent/no`, orders are executed and get no response |
/// | `POST /expire` | invalidates all tokens; with `uses=3`, tokens issued from now on expire after three requests |
/// | `GET /download?size=67108864&rate=6553600` | `size` bytes, at about `rate` bytes a second |
/// | `GET /brochure?size=4194304&rate=6553600` | `size` bytes, also in parts (`Range`, `If-Range`, `ETag`); with `breakAfter=1000&run=a` the connection breaks once after 1000 bytes |
/// | `GET /chat` | a WebSocket that answers each text; with `breakAt=3&run=a` the connection breaks once instead of the third answer |
/// | `POST /answers` | the words of an answer to `{"prompt":"tea"}` as events, then `[DONE]`; without the words of `prefix`; with `breakAfter=4&run=a` the connection breaks once after four words |
/// | `GET /prices?every=10` | changing prices as events, one each 10 ms, without an end |
/// | `PUT /closed/yes` | until `PUT /closed/no`, all other requests except the statistics fail with 503 |
/// | `GET /stats` | the ``Statistics`` |
///
/// Other errors have an errcode and a text in `msg`.
public final class DemoAPI: Sendable {
    private let shop: Shop
    private let server: LoopbackServer

    /// Starts the API on a free port and returns when it is listening.
    public static func start() async throws -> DemoAPI {
        let shop = Shop()
        return DemoAPI(shop, try await LoopbackServer.start { try await shop.answer($0) })
    }

    private init(_ shop: Shop, _ server: LoopbackServer) {
        self.shop = shop
        self.server = server
    }

    /// `http://127.0.0.1:port`, with no slash at the end.
    public var baseURL: String { server.baseURL }

    /// The counts so far.
    public var statistics: Statistics { shop.counters.statistics }

    /// Closes all connections and returns when they are gone.
    public func stop() async { await server.stop() }
}
