import FoundationEssentials
import HTTPTypes
import RxHTTP

/// One run through the pages of a list: where it is, and what it has gathered.
struct PageRun<Item: Sendable> {
    private(set) var items: [Item] = []
    private(set) var pageCount = 0
    private(set) var total: Int?
    /// Where the next page is; `nil` for where the endpoint says.
    private(set) var position: PagePosition?
    private(set) var hasMore = false
    /// The page that came last, as the rule saw it.
    private(set) var latest: PageArrival?

    /// Where the page before the first is, if there is one.
    private var before: PagePosition?
    private let rule: PagingRule
    private let options: PagingOptions<Item>
    private let maxPages: Int
    private let maxItems: Int
    private var received: Int
    /// The most items that a page had.
    private var largestPage = 0
    /// How many items there were before the first of `items`; less than none after going back from a start in the
    /// middle.
    private var taken = 0
    /// The same for pages, and how many of them `items` come from.
    private var takenPages = 0
    private var heldPages = 0
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
        maxPages = max(0, options.maxPages ?? .max)
        maxItems = max(0, options.maxItems ?? .max)
        position = options.start ?? rule.first
        received = position.map(rule.itemsBefore) ?? 0
        hasMore = !isFull
    }

    /// How to ask for the next page.
    var placement: PagePlacement { placement(at: position) }
    /// Where the page before the first is, if there is one and it may be loaded. One that has been there may.
    var previous: PagePosition? { takenPages > 0 || !isFull ? before : nil }
    /// How to ask for the page before the first.
    var previousPlacement: PagePlacement { placement(at: previous) }

    /// How to ask for the page at a position.
    func placement(at position: PagePosition?) -> PagePlacement {
        guard let position else { return PagePlacement() }
        var placement = rule.placement(position)
        placement.position = position
        return placement
    }

    /// Takes in the next page and moves on.
    ///
    /// - Throws: `paging` if the server names no page that can come after this one, or one that has been there. The
    ///   page has been taken in nevertheless, and there are no more.
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
                .paging, "the page after this one has been there already", request: page.response?.request)
        }
        hasMore = position != nil
    }

    /// Whether the failure of the next page says that there is none.
    func isEnd(_ error: NetworkError) -> Bool {
        guard pageCount > 0, error.code == .status, let status = error.status else { return false }
        return rule.endStatuses.contains(status.code)
    }

    /// There is no next page.
    mutating func end() {
        position = nil
        hasMore = false
    }

    /// Where a page is expected after the one there, before that has come; `nil` beyond an end that is known.
    func expectedNext(after here: PagePosition) -> PagePosition? {
        guard let next = rule.expectedNext(here, latest), next != here else { return nil }
        guard let position else { return next }
        let between = rule.itemsBefore(next).subtractingClamped(rule.itemsBefore(position))
        return itemCount.addingClamped(between) < maxItems ? next : nil
    }

    /// Takes in the page before the first.
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
                .paging, "the page before this one has been there already", request: page.response?.request)
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

    /// Of those that are here, and those that were before them.
    private var itemCount: Int { max(0, taken) + items.count }

    /// How many of the last items are more than may be kept.
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
