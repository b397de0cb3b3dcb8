import FoundationEssentials
import HTTPTypes
import RxHTTP

/// One run through the pages of a list: its position, and the gathered items.
struct PageRun<Item: Sendable> {
    private(set) var items: [Item] = []
    private(set) var pageCount = 0
    private(set) var total: Int?
    /// The position of the next page; `nil` for the endpoint's position.
    private(set) var position: PagePosition?
    private(set) var hasMore = false
    /// The latest page, as the rule saw it.
    private(set) var latest: PageArrival?

    /// The position of the page before the first, if there is one.
    private var before: PagePosition?
    private let rule: PagingRule
    private let options: PagingOptions<Item>
    private let maxPages: Int
    private let maxItems: Int
    private var received: Int
    /// The greatest number of items in a page.
    private var largestPage = 0
    /// The number of items before the first of `items`; negative after going back from a start in the middle.
    private var taken = 0
    /// The number of pages before `items`, and of the pages in `items`.
    private var takenPages = 0
    private var heldPages = 0
    /// The places of the items by their identity, counted like `taken`.
    private var places: [AnyHashable: Int] = [:]
    /// The pages in `items`, if a window limits their number.
    private var pages: [HeldPage] = []
    /// The positions of visited pages that a server could name again.
    private var visited: Set<PagePosition> = []

    private struct HeldPage {
        let position: PagePosition
        var count: Int
    }

    init(_ rule: PagingRule, _ options: PagingOptions<Item>) {
        self.rule = rule
        self.options = options
        maxPages = max(0, options.maxPages ?? .max)
        maxItems = max(0, options.maxItems ?? .max)
        position = options.start ?? rule.first
        received = position.map(rule.itemsBefore) ?? 0
        hasMore = !isFull
    }

    /// The placement of the next page.
    var placement: PagePlacement { placement(at: position) }
    /// The position of the page before the first, if there is one and it may be loaded. It may have been
    /// visited before.
    var previous: PagePosition? { takenPages > 0 || !isFull ? before : nil }
    /// The placement of the page before the first.
    var previousPlacement: PagePlacement { placement(at: previous) }

    /// The placement of a position.
    func placement(at position: PagePosition?) -> PagePlacement {
        guard let position else { return PagePlacement() }
        var placement = rule.placement(position)
        placement.position = position
        return placement
    }

    /// Adds the next page and moves on.
    ///
    /// - Throws: `paging` if the server names no valid page after this one, or one that has been visited. The
    ///   page has been added nevertheless, and there are no more.
    mutating func receive(_ page: Page<Item>) throws(NetworkError) {
        let (count, _) = received.addingReportingOverflow(page.items.count)
        received = count
        pageCount += 1
        total = page.total ?? total
        let here = position ?? page.response.map { .link($0.request.url) } ?? .cursor("")
        let countBefore = items.count
        for item in page.items { insert(item) }
        let surplus = surplus
        forget(items.suffix(surplus))
        items.removeLast(surplus)
        hold(HeldPage(position: here, count: items.count - countBefore))
        hasMore = false
        let arrival = arrival(of: page, at: here)
        latest = arrival
        largestPage = max(largestPage, page.items.count)
        if pageCount == 1 { before = try rule.previous(arrival) }
        guard !page.items.isEmpty, !isFull else {
            position = nil
            return
        }
        position = try rule.next(arrival)
        if here.canComeAgain { visited.insert(here) }
        if let position, position == here || visited.contains(position) {
            throw NetworkError(
                .paging, "the next page that the server names is already loaded",
                request: page.response?.request)
        }
        hasMore = position != nil
    }

    /// Whether the failure of the next page means that there is none.
    func isEnd(_ error: NetworkError) -> Bool {
        guard pageCount > 0, error.code == .status, let status = error.status else { return false }
        return rule.endStatuses.contains(status.code)
    }

    /// Records that there is no next page.
    mutating func end() {
        position = nil
        hasMore = false
    }

    /// The expected position after the page at `here`, before that page has arrived; `nil` beyond a known
    /// end.
    func expectedNext(after here: PagePosition) -> PagePosition? {
        guard let next = rule.expectedNext(here, latest), next != here else { return nil }
        guard let position else { return next }
        let between = rule.itemsBefore(next).subtractingClamped(rule.itemsBefore(position))
        return itemCount.addingClamped(between) < maxItems ? next : nil
    }

    /// Adds the page before the first.
    mutating func receivePrevious(_ page: Page<Item>) throws(NetworkError) {
        guard let here = before else { return }
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
        let shown = added.suffix(max(0, maxItems - items.count))
        items.insert(contentsOf: shown, at: 0)
        taken -= shown.count
        takenPages -= 1
        heldPages += 1
        if let identity = options.identity {
            for (index, item) in shown.enumerated() { places[identity(item)] = taken + index }
        }
        if here.canComeAgain { visited.insert(here) }
        if let window = options.window {
            pages.insert(HeldPage(position: here, count: shown.count), at: 0)
            while pages.count > max(1, window) { dropLast() }
        }
        if isFull { hasMore = false }
        before = nil
        let next = try rule.previous(arrival(of: page, at: here))
        if let next, next == here || visited.contains(next) {
            throw NetworkError(
                .paging, "the previous page that the server names is already loaded",
                request: page.response?.request)
        }
        before = page.items.isEmpty ? nil : next
    }

    private func arrival(of page: Page<Item>, at here: PagePosition) -> PageArrival {
        PageArrival(
            position: here, itemCount: page.items.count, largestPage: largestPage, itemsSoFar: received,
            total: page.total,
            totalPages: page.totalPages, nextCursor: page.nextCursor, previousCursor: page.previousCursor,
            response: page.response)
    }

    private mutating func hold(_ page: HeldPage) {
        heldPages += 1
        guard let window = options.window else { return }
        pages.append(page)
        while pages.count > max(1, window) { dropFirst() }
    }

    private mutating func dropFirst() {
        let page = pages.removeFirst()
        forget(items.prefix(page.count))
        items.removeFirst(page.count)
        taken += page.count
        takenPages += 1
        heldPages -= 1
        before = page.position
        visited.remove(page.position)
    }

    private mutating func dropLast() {
        let page = pages.removeLast()
        forget(items.suffix(page.count))
        items.removeLast(page.count)
        heldPages -= 1
        received = page.position.canComeAgain ? received - page.count : rule.itemsBefore(page.position)
        position = page.position
        visited.remove(page.position)
        hasMore = true
    }

    private mutating func forget(_ dropped: ArraySlice<Item>) {
        guard let identity = options.identity else { return }
        for item in dropped { places[identity(item)] = nil }
    }

    /// The number of items, both current and earlier.
    private var itemCount: Int { max(0, taken) + items.count }

    /// The number of items at the end that exceed the limit.
    private var surplus: Int { min(items.count, max(0, itemCount - maxItems)) }

    private var isFull: Bool {
        max(0, takenPages) + heldPages >= maxPages || itemCount >= maxItems
    }

    private mutating func insert(_ item: Item) {
        guard let identity = options.identity?(item) else { return items.append(item) }
        guard let place = places[identity] else {
            places[identity] = taken + items.count
            return items.append(item)
        }
        if place >= taken { items[place - taken] = item }
    }

    /// Removes and returns the gathered items, for callers that pass them on at once. Later duplicates of
    /// these items are dropped.
    mutating func takeItems() -> [Item] {
        defer {
            taken += items.count
            items = []
        }
        return items
    }
}

extension PagePosition {
    /// Whether a server could name the position twice; numbers and offsets only grow.
    fileprivate var canComeAgain: Bool {
        switch self {
        case .number, .offset: false
        case .cursor, .link: true
        }
    }
}
