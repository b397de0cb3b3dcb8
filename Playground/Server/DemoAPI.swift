import FlyingFox

/// The API of a small shop on loopback, for the recipes of the tour: paging, failures that pass, a login that
/// expires, a cart, uploads, slow and broken downloads. It keeps count of what it is asked.
///
/// Switches are in the query of a request, with a `run` or `key` of the caller's choice where something happens
/// once, so that runs do not disturb each other. Everything is forgotten with the process.
///
/// | request | answer |
/// |---|---|
/// | `GET /goods?page=1&pageSize=10` | a page of the 47 goods; with `failPage=3&run=a` page 3 is once refused with 503, with `stallPage=3&run=a` once never answered |
/// | `GET /goods/7` | one of the goods; errcode 10404 for an unknown one |
/// | `GET /offers` | three of the goods, good for a minute (`Cache-Control`), or 304 for their `ETag` |
/// | `GET /flaky?key=a` | twice 503 with `Retry-After: 1`, then 200; `times` and `after` set other numbers |
/// | `POST /login` | a token for `{"user":"ada","password":"tea"}`, after 200 ms; else 401 and errcode 11001; also the cookie `visitor` |
/// | `POST /logout` | makes the token of the request invalid and empties the cart |
/// | `GET /cart` | what the user of the token is about to buy |
/// | `POST /cart` | puts `{"goods":7,"number":2}` into it; errcode 10404 for unknown goods, 10409 for more than there is |
/// | `POST /pictures?rate=6553600` | takes the file of a form, at about so many bytes a second; tells its name, type and length |
/// | `GET /orders`, `/orders/7` | for a valid `Authorization: Bearer`; else 401 |
/// | `GET /legacy/orders`, `/legacy/orders/7` | the same; else errcode 11010 and status 200 |
/// | `POST /expire` | makes all tokens invalid; with `uses=3`, those issued from now on after three requests |
/// | `GET /download?size=67108864&rate=6553600` | so many bytes, at about so many a second |
/// | `GET /brochure?size=4194304&rate=6553600` | so many bytes, by parts too (`Range`, `If-Range`, `ETag`); with `breakAfter=1000&run=a` the connection breaks once after so many |
/// | `PUT /closed/yes` | from now on, until `PUT /closed/no`, everything else but the statistics is refused with 503 |
/// | `GET /stats` | the ``Statistics`` |
///
/// Whatever else is wrong gets an errcode and a text in `msg`.
public final class DemoAPI: Sendable {
    private let shop: Shop
    private let server: LoopbackServer

    /// Starts the API on a free port and returns when it listens.
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

    /// What has been counted so far.
    public var statistics: Statistics { shop.counters.statistics }

    /// Closes all connections and returns when they are gone.
    public func stop() async { await server.stop() }
}
