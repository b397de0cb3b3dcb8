import RxNetworking

extension Client {
    /// The catalogue module.
    var catalogue: Catalogue { Catalogue(client: self) }
}

/// The module of the shop's API that needs no login.
struct Catalogue: Sendable {
    let client: Client

    /// One article.
    func goods(_ id: Int) -> Observable<Goods, NetworkError> {
        client.get("/goods/{id}", at: ["id": id]).decode(Goods.self)
    }

    /// All goods, page by page, driven by two signals.
    func goods(
        _ list: GoodsList, next: Signal<Void>, reload: Signal<Void>
    ) -> Observable<PagingState<Goods>, Never> {
        client.pages(list, .numbered(size: 10), next: next, reload: reload) {
            Page($0.list, total: $0.total)
        }
    }

    /// The goods whose names contain a word.
    func goods(named word: String) -> Observable<[Goods], NetworkError> {
        client.get("/goods", query: ["keyword": word, "pageSize": 100]).decode(GoodsPage.self).map(\.list)
    }

    /// Today's offers, with the response that they come from.
    func offers(_ mode: CacheMode = .standard) -> Observable<TypedResponse<[Goods]>, NetworkError> {
        client.typedResponse(Offers(cacheMode: mode))
    }

    /// The printed catalogue, downloaded to a file; resumes an interrupted download.
    func brochure(_ query: Parameters.Values, to path: String) -> Observable<DownloadEvent, NetworkError> {
        client.download(.get("/brochure", query: query), to: path)
    }
}

/// A page of goods, optionally with a page that fails once.
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
