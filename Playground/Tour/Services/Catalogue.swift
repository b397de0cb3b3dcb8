import RxNetworking

extension Client {
    /// What the shop sells.
    var catalogue: Catalogue { Catalogue(client: self) }
}

/// The module of the shop's API that needs no login.
struct Catalogue: Sendable {
    let client: Client

    /// One of the goods.
    func goods(_ id: Int) -> Observable<Goods, NetworkError> {
        client.get("/goods/{id}", at: ["id": id]).decode(Goods.self)
    }

    /// All goods, page by page, as `commands` ask for them.
    func goods(
        _ list: GoodsList, on commands: Observable<PagingCommand, Never>
    ) -> Observable<PagingState<Goods>, Never> {
        client.pages(list, .numbered(size: 10), on: commands) { Page($0.list, total: $0.total) }
    }

    /// What is cheap today, and whether the server was asked.
    func offers(_ mode: CacheMode = .standard) -> Observable<TypedResponse<[Goods]>, NetworkError> {
        client.typedResponse(Offers(cacheMode: mode))
    }

    /// The printed catalogue, to a file; goes on where it was interrupted.
    func brochure(_ query: Parameters.Values, to path: String) -> Observable<DownloadEvent, NetworkError> {
        client.download(.get("/brochure", query: query), to: path)
    }
}

/// A page of the goods, with a page that fails once if that is wanted.
struct GoodsList: Endpoint {
    typealias Output = GoodsPage
    let run: String
    var failingPage = 0
    let path = "/goods"
    let options = RequestOptions(retry: .never)
    var parameters: Parameters { .query(["run": run, "failPage": failingPage]) }
}

private struct Offers: Endpoint {
    typealias Output = [Goods]
    let cacheMode: CacheMode
    let path = "/offers"
    var options: RequestOptions { RequestOptions(cachePolicy: .http, cacheMode: cacheMode) }
}
