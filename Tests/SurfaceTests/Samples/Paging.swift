import RxNetworking

func drivePages(client: Client) {
    let loadMore = Signal<Void>(), reload = Signal<Void>()
    client.pages(GoodsList(keyword: "tea"), .numbered(size: 20), next: loadMore, reload: reload)
        .subscribe { state in render(state.items, state.phase) }
}

func searchAList(
    client: Client, keywords: Observable<String, Never>, loadMore: Signal<Void>, reload: Signal<Void>
) {
    keywords.flatMap(.latest) { keyword in
        client.pages(GoodsList(keyword: keyword), .numbered(size: 20), next: loadMore, reload: reload)
    }
    .keepingItems()
    .subscribe { state in render(state.items, state.phase) }
}

func shareAList(client: Client, loadMore: Signal<Void>) {
    let list = client.pages(GoodsList(keyword: "tea"), .numbered(size: 20), next: loadMore).share(replay: 1)
    list.subscribe { state in render(state.items, state.phase) }
    list.map(\.hasMore).distinctUntilChanged().subscribe { hasMore in show(hasMore) }
}

struct GoodsSync: Endpoint {
    let path = "/goods"

    func output(from response: Response) throws(NetworkError) -> Page<Goods> {
        let output = try response.decode(GoodsFeed.Output.self)
        return Page(output.list, total: output.totalRow, nextCursor: output.next)
    }
}

struct SavedGoods {
    var items: [Goods] = []
    var position: PagePosition?

    func write() throws {}
}

func syncAList(client: Client, saved: inout SavedGoods) async throws {
    for try await page in client.eachPage(GoodsSync(), .nextURL, from: saved.position) {
        saved.items += page.items
        saved.position = page.next
        try saved.write()
    }
}

func pageInPlace(client: Client, loadMore: Signal<Void>) {
    client.pages(.get("/goods"), .numbered(size: 20, pageKey: "p", sizeKey: "n"), next: loadMore) {
        response throws(NetworkError) in
        Page(try response.decode([Goods].self))
    }
    .subscribe { state in render(state.items, state.phase) }
}

struct GoodsFeed: Endpoint {
    struct Output: Decodable, Sendable {
        let list: [Goods]
        let totalRow: Int
        let next: String?
    }

    let path = "/feed"
}

func findCursors(client: Client, loadMore: Signal<Void>) {
    client.pages(GoodsFeed(), .cursor(size: 20), next: loadMore) { output in
        Page(output.list, total: output.totalRow, nextCursor: output.next)
    }
    .subscribe { state in render(state.items, state.phase) }
}

func divideByDays() -> PagingRule {
    let byDay = PagingRule(first: .cursor("today")) { position in
        guard case .cursor(let day) = position else { return [:] }
        return ["day": day]
    } next: { info in
        info.nextCursor.map { .cursor($0) }
    }
    return byDay
}

func followAScreen(
    client: Client, lastVisibleRow: Observable<Int, Never>, pulledDown: Observable<Void, Never>,
    scrolledToTop: Observable<Void, Never>
) {
    let commands: Observable<PagingCommand, Never> = .merge(
        lastVisibleRow.map { .visible($0) }, pulledDown.map { .reload }, scrolledToTop.map { .previous })
    client.pages(
        GoodsList(keyword: "tea"), .offset(size: 20), options: PagingOptions(window: 10), on: commands
    )
    .subscribe { state in render(state.items, state.phase) }
}

func resume(from saved: PagePosition?) -> PagingOptions<Goods> {
    var options = PagingOptions<Goods>()
    options.start = saved
    options.identity = { $0.name }
    return options
}

func takeEverything(client: Client) async throws {
    let options = PagingOptions<Goods>(ahead: 3)
    for try await goods in client.items(GoodsList(keyword: "tea"), .offset(size: 100), options: options) {
        show(goods)
    }
}

struct GoodsStore: Sendable {
    func goods(at position: PagePosition?) -> Observable<(goods: [Goods], count: Int), NetworkError> {
        .just((goods: [], count: 0))
    }
}

func pagesFromElsewhere(
    commands: Observable<PagingCommand, Never>, store: GoodsStore
) -> (Observable<PagingState<Goods>, Never>, Observable<Goods, NetworkError>) {
    let states = commands.accumulatePages(.offset(size: 20)) { page in
        store.goods(at: page.position).map { rows in Page(rows.goods, total: rows.count) }
    }
    let all = Observable<Goods, NetworkError>.items(.offset(size: 100)) { page in
        store.goods(at: page.position).map { rows in Page(rows.goods, total: rows.count) }
    }
    return (states, all)
}
