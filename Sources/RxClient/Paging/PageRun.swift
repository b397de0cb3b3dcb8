import FoundationEssentials
import RxHTTP

/// One run through the pages of a list: where it is, and what it has gathered.
struct PageRun<Item: Sendable> {
    private(set) var items: [Item] = []
    private(set) var pageCount = 0
    private(set) var total: Int?
    /// Where the next page is; `nil` for where the endpoint says.
    private(set) var position: PagePosition?
    private(set) var hasMore = false
    /// Where the page before the first is, if there is one.
    private(set) var previous: PagePosition?

    private let rule: PagingRule
    private let options: PagingOptions<Item>
    private var received: Int
    /// How many items there were before the first of `items`; less than none after going back from a start in the middle.
    private var taken = 0
    /// Where items are, counted as `taken` is.
    private var places: [AnyHashable: Int] = [:]
    /// The pages in `items`, where these are limited to so many.
    private var pages: [HeldPage] = []
    /// Where pages came from that could come round again.
    private var visited: Set<PagePosition> = []

    private struct HeldPage {
        let position: PagePosition
        var count: Int
    }

    init(_ rule: PagingRule, _ options: PagingOptions<Item>) {
        self.rule = rule
        self.options = options
        position = options.start ?? rule.first
        received = position.map(rule.itemsBefore) ?? 0
        hasMore = !isFull
    }

    /// How to ask for the next page.
    var placement: PagePlacement? { position.map(rule.placement) }
    /// How to ask for the page before the first.
    var previousPlacement: PagePlacement? { previous.map(rule.placement) }

    /// Takes in the next page and moves on.
    ///
    /// - Throws: `paging` if the server names no page that can come after this one, or one that has been there. The page
    ///   has been taken in nevertheless, and there are no more.
    mutating func receive(_ page: Page<Item>, in response: Response) throws(NetworkError) {
        let (count, _) = received.addingReportingOverflow(page.items.count)
        received = count
        pageCount += 1
        total = page.total ?? total
        let here = position ?? .link(response.request.url)
        let before = items.count
        for item in page.items { insert(item) }
        hold(HeldPage(position: here, count: items.count - before))
        hasMore = false
        let arrival = arrival(of: page, at: here, in: response)
        if pageCount == 1 { previous = try rule.previous(arrival) }
        guard !page.items.isEmpty, !isFull else {
            position = nil
            return removeSurplus()
        }
        position = try rule.next(arrival)
        if here.canComeAgain { visited.insert(here) }
        if let position, position == here || visited.contains(position) {
            throw NetworkError(
                .paging, "the page after this one has been there already", request: response.request)
        }
        hasMore = position != nil
    }

    /// Takes in the page before the first.
    mutating func receivePrevious(_ page: Page<Item>, in response: Response) throws(NetworkError) {
        guard let here = previous else { return }
        pageCount += 1
        total = page.total ?? total
        var isNew: Set<AnyHashable> = []
        let added = page.items.filter { item in
            guard let identity = options.identity?(item) else { return true }
            if let place = places[identity] {
                items[place - taken] = item
                return false
            }
            return isNew.insert(identity).inserted
        }
        items.insert(contentsOf: added, at: 0)
        taken -= added.count
        if let identity = options.identity {
            for (index, item) in added.enumerated() { places[identity(item)] = taken + index }
        }
        if here.canComeAgain { visited.insert(here) }
        if let window = options.window {
            pages.insert(HeldPage(position: here, count: added.count), at: 0)
            while pages.count > max(1, window) { dropLast() }
        }
        previous = nil
        let before = try rule.previous(arrival(of: page, at: here, in: response))
        if let before, before == here || visited.contains(before) {
            throw NetworkError(
                .paging, "the page before this one has been there already", request: response.request)
        }
        previous = page.items.isEmpty ? nil : before
    }

    private func arrival(of page: Page<Item>, at here: PagePosition, in response: Response) -> PageArrival {
        PageArrival(
            position: here, itemCount: page.items.count, itemsSoFar: received, total: page.total,
            totalPages: page.totalPages, nextCursor: page.nextCursor, previousCursor: page.previousCursor,
            response: response)
    }

    private mutating func hold(_ page: HeldPage) {
        guard let window = options.window else { return }
        pages.append(page)
        while pages.count > max(1, window) { dropFirst() }
    }

    private mutating func dropFirst() {
        let page = pages.removeFirst()
        forget(items.prefix(page.count))
        items.removeFirst(page.count)
        taken += page.count
        previous = page.position
        visited.remove(page.position)
    }

    private mutating func dropLast() {
        let page = pages.removeLast()
        forget(items.suffix(page.count))
        items.removeLast(page.count)
        received = page.position.canComeAgain ? received - page.count : rule.itemsBefore(page.position)
        position = page.position
        visited.remove(page.position)
        hasMore = true
    }

    private mutating func forget(_ dropped: ArraySlice<Item>) {
        guard let identity = options.identity else { return }
        for item in dropped { places[identity(item)] = nil }
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

extension PagePosition {
    /// Whether a server could name it twice; numbers and offsets only grow.
    fileprivate var canComeAgain: Bool {
        switch self {
        case .number, .offset: false
        case .cursor, .link: true
        }
    }
}
