import HTTPTypes
import RxNetworking

// The samples of the comments on paging.

private struct List: Sendable {
    let lastVisibleRow: Observable<Int, Never>
}

private struct Users: Endpoint {
    struct Output: Decodable, Sendable {
        let results: [User]
        let count: Int
        let next: String?
    }
    let path = "/users"
}

extension HTTPField.Name {
    fileprivate static let dayBefore = HTTPField.Name("X-Day-Before")!
}

@Statements func pages(
    _ client: Client, _ commands: Observable<PagingCommand, Never>, _ goods: Rows,
    lastVisibleRow: Observable<Int, Never>, keywords: Observable<String, Never>
) -> [Any] {
    let loadMore = Signal<Void>(), reload = Signal<Void>()
    client.pages(GoodsList(keyword: "tea"), .numbered(size: 20), next: loadMore, reload: reload)
        .subscribe { state in render(state.items, state.phase) }

    commands.accumulatePages(.offset(size: 20)) { page in
        goods.rows(at: page.position).map { Page($0.rows, total: $0.count) }
    }

    Observable<Goods, NetworkError>.items(.offset(size: 100)) { page in
        goods.rows(at: page.position).map { Page($0.rows, total: $0.count) }
    }

    keywords.flatMap(.latest) { keyword in
        client.pages(GoodsList(keyword: keyword), .numbered(size: 20), next: loadMore, reload: reload)
    }
    .keepingItems()
    .subscribe { state in render(state.items, state.phase) }

    client.items(Users(), .nextURL) { Page($0.results, total: $0.count, nextCursor: $0.next) }

    let list = List(lastVisibleRow: lastVisibleRow)
    client.pages(GoodsList(keyword: "tea"), .offset(size: 20), on: list.lastVisibleRow.map { .visible($0) })
}

func customPages() -> PagingRule {
    let byDay = PagingRule(first: .cursor("today")) { position in
        guard case .cursor(let day) = position else { return [:] }
        return ["day": day]
    } next: { info in
        info.response?.head[.dayBefore].map { .cursor($0) }
    }
    return byDay
}

func everyItem(_ client: Client) async throws {
    for try await goods in client.items(GoodsList(keyword: "tea"), .numbered(size: 20)) { show(goods) }
}

private struct Warehouse {
    func insert(_ goods: [Goods], continuingAt position: PagePosition?) throws {}
}

func everyPage(_ client: Client, saved: PagePosition?) async throws {
    let store = Warehouse()
    for try await page in client.eachPage(GoodsList(keyword: "tea"), .offset(size: 100), from: saved) {
        try store.insert(page.items, continuingAt: page.next)
    }
}
