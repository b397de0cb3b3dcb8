import FoundationEssentials
import RxHTTP

/// One run through the pages of a list: where it is, and what it has gathered.
struct PageRun<Item: Sendable> {
    private(set) var items: [Item] = []
    private(set) var pageCount = 0
    private(set) var total: Int?
    /// Where the next page is; `nil` for where the endpoint says.
    private(set) var position: PagingRule.Position?
    private(set) var hasMore = false

    private let rule: PagingRule
    private let options: PagingOptions<Item>
    private var received = 0
    /// How many items have been taken out of the front of `items`.
    private var taken = 0
    private var places: [AnyHashable: Int] = [:]

    init(_ rule: PagingRule, _ options: PagingOptions<Item>) {
        self.rule = rule
        self.options = options
        position = rule.first
        hasMore = !isFull
    }

    /// How to ask for the next page.
    var placement: PagePlacement? { position.map(rule.placement) }

    /// Takes in a page and moves on.
    ///
    /// - Throws: `paging` if the server names no page that can come after this one, or this one again. The page
    ///   has been taken in nevertheless, and there are no more.
    mutating func receive(_ page: Page<Item>, in response: Response) throws(NetworkError) {
        received += page.items.count
        pageCount += 1
        total = page.total ?? total
        for item in page.items { insert(item) }
        hasMore = false
        guard !page.items.isEmpty, !isFull else { return removeSurplus() }
        let here = position ?? .link(response.request.url)
        position = try rule.next(
            PagingRule.Arrival(
                position: here, itemCount: page.items.count, itemsSoFar: received,
                total: page.total, totalPages: page.totalPages, response: response))
        guard position != here else {
            throw NetworkError(
                .paging, "the page after this one is this one again", request: response.request)
        }
        hasMore = position != nil
    }

    private mutating func removeSurplus() {
        guard let maxItems = options.maxItems, taken + items.count > maxItems else { return }
        items.removeLast(min(items.count, taken + items.count - maxItems))
    }

    private var isFull: Bool {
        pageCount >= options.maxPages ?? .max || taken + items.count >= options.maxItems ?? .max
    }

    private mutating func insert(_ item: Item) {
        guard let identity = options.identity?(item) else { return items.append(item) }
        guard let place = places[identity] else {
            places[identity] = taken + items.count
            return items.append(item)
        }
        if place >= taken { items[place - taken] = item }
    }

    /// Takes out what has been gathered, for those who pass it on at once. Of an item that comes again
    /// later nothing is seen.
    mutating func takeItems() -> [Item] {
        defer {
            taken += items.count
            items = []
        }
        return items
    }
}
