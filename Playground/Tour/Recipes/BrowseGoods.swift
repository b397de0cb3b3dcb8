import RxNetworking

extension Recipe {
    static let pagingBySignals = Recipe(
        "A list driven by signals",
        "Five pages to the end; a reload while the second is loading, and a third page that fails once."
    ) { stage in
        // Code
        let loadMore = Signal<Void>(), reload = Signal<Void>()
        let states = Client.shop(stage.baseURL).pages(
            GoodsList(run: "\(ContinuousClock.now)", failingPage: 3), .numbered(size: 10),
            next: loadMore, reload: reload
        ) { page in Page(page.list, total: page.total) }
        // Shown
        var hasReloaded = false
        var failures = 0
        var last = PagingState<Goods>()
        for await state in states.values(buffering: .unbounded) {
            last = state
            stage.note(
                "\(state.items.count) of \(state.total ?? 0) goods, \(state.page) pages: \(state.phase)")
            switch state.phase {
            case .loadingMore where !hasReloaded && state.page == 1:
                hasReloaded = true
                stage.note("pull to refresh: reload.send()")
                reload.send()
            case .failed:
                failures += 1
                stage.note("try again: loadMore.send()")
                loadMore.send()
            case .idle: loadMore.send()
            case .loadingFirst, .loadingMore, .loadingPrevious, .end: break
            }
            if case .end = state.phase { break }
        }
        stage.expect(hasReloaded && failures == 1, "one reload and one failed page, not \(failures)")
        stage.expect(
            last.page == 5 && last.items.map(\.id) == Array(1...47), "47 goods in order, from 5 pages")
        stage.result("\(last.items.count) goods from \(last.page) pages")
    }
}

/// The goods of the demo shop, with a page that fails once.
private struct GoodsList: Endpoint {
    typealias Output = GoodsPage
    let run: String
    let failingPage: Int
    let path = "/goods"
    let method = HTTPRequest.Method.get
    var parameters: Parameters { .query(["run": run, "failPage": failingPage]) }
    var retry: RetryPolicy<NetworkError>? { .never }
}
