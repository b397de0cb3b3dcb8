import FoundationEssentials
import HTTPTypes
import RxHTTP
import RxParameters

/// One run through the pages of a list: its position, and the gathered items.
struct PageRun<Item: Sendable> {
    private(set) var items: [Item] = []
    private(set) var pageCount = 0
    private(set) var total: Int?
    /// The position of the next page; `nil` for the endpoint's position.
    private(set) var position: PagePosition?
    private(set) var hasMore = false
    /// The latest page, as the rule saw it.
    private(set) var latest: PageInfo?

    /// The position of the page before the first, if there is one, and its ordinal.
    private var before: PagePosition?
    private var ordinalBefore = -1
    private let rule: PagingRule
    private let options: PagingOptions<Item>
    private let maxPages: Int
    private let maxItems: Int
    /// The number of items in the pages before `position`; meaningful in a list that began with its first page.
    private var received = 0
    /// The greatest number of items in a page.
    private var largestPage = 0
    /// The number of items before the first of `items`; negative after going back from a start in the middle.
    private var taken = 0
    /// The number of pages before `items`.
    private var takenPages = 0
    /// The number of empty pages since the last that had items.
    private var emptyPages = 0
    /// The indices of the items by their identity, counted like `taken`.
    private var indices: [AnyHashable: Int] = [:]
    /// The pages in `items`.
    private var pages: [HeldPage] = []
    /// The number of the next page, counted from the page that the list began with.
    private var ordinal = 0
    /// The ordinals of the visited pages, by the hashes of positions that a server could name again. Pages that a
    /// window has dropped stay here, because a circle can be longer than the window.
    private var visited: [Int: Int] = [:]

    private struct HeldPage {
        let position: PagePosition
        let ordinal: Int
        /// The number of its items that are shown, and of those that the server sent.
        var count: Int
        let received: Int
    }

    init(_ rule: PagingRule, _ options: PagingOptions<Item>) {
        self.rule = rule
        self.options = options
        maxPages = max(0, options.maxPages ?? .max)
        maxItems = max(0, options.maxItems ?? .max)
        position = options.start ?? rule.first
        hasMore = !isFull
    }

    /// The page at a position, as a list asks for it.
    func page(at position: PagePosition?) -> (position: PagePosition?, parameters: Parameters.Values) {
        (position, position.map(rule.parameters) ?? [:])
    }

    /// The position of the page before the first, if there is one and it may be loaded. It may have been
    /// visited before.
    var previous: PagePosition? { takenPages > 0 || !isFull ? before : nil }

    /// Adds the next page and moves on.
    ///
    /// - Throws: `paging` if the server names no valid page after this one, or one that has been visited, or too many
    ///   empty pages. The page has been added nevertheless, and there are no more.
    mutating func receive(_ page: Page<Item>) throws(NetworkError) {
        received = received.addingClamped(page.items.count)
        pageCount += 1
        total = page.total ?? total
        // A first page at the endpoint's own URL counts as visited under it, if a link leads back.
        let here = position ?? page.response.map { .link($0.request.url) } ?? .cursor("")
        let countBefore = items.count
        for item in page.items { insert(item) }
        let surplus = surplus
        forget(items.suffix(surplus))
        items.removeLast(surplus)
        if page.items.isEmpty {
            emptyPages += 1
        } else {
            emptyPages = 0
            hold(
                HeldPage(
                    position: here, ordinal: ordinal, count: items.count - countBefore,
                    received: page.items.count))
        }
        hasMore = false
        let info = info(of: page, at: here)
        latest = info
        // After `info`, which has the largest of the pages before.
        largestPage = max(largestPage, page.items.count)
        if pageCount == 1 { before = try rule.previous(info) }
        guard !isFull else {
            position = nil
            return
        }
        let next = try nextPosition(after: page, info)
        position = next
        record(here, at: ordinal)
        guard next != nil else { return }
        if emptyPages >= max(1, options.maxEmptyPages) {
            throw NetworkError(
                .paging, "\(emptyPages) consecutive pages are empty", request: page.response?.request)
        }
        // Empty pages share the ordinal of the page that they lead to.
        if !page.items.isEmpty { ordinal += 1 }
        hasMore = true
    }

    /// The position after a page.
    ///
    /// A page without items whose next one is invalid or leads back is the last: nothing can follow it.
    private func nextPosition(
        after page: Page<Item>, _ info: PageInfo
    ) throws(NetworkError) -> PagePosition? {
        do throws(NetworkError) {
            guard let next = try rule.next(info) else { return nil }
            let first = page.items.isEmpty ? ordinal : ordinal + 1
            if let known = next == info.position ? ordinal : visited[next.hashValue],
                known < first || next == info.position
            {
                throw circleError(of: page, from: ordinal, to: known, "next")
            }
            return next
        } catch {
            if page.items.isEmpty { return nil }
            throw error
        }
    }

    /// Records the ordinal of a page that a server could name again; numbers and offsets only grow.
    private mutating func record(_ position: PagePosition, at ordinal: Int) {
        switch position {
        case .number, .page, .offset: break
        case .cursor, .link: visited[position.hashValue] = ordinal
        }
    }

    /// The error for a page whose next or previous page, as the server names it, has been loaded before.
    private func circleError(
        of page: Page<Item>, from ordinal: Int, to other: Int, _ direction: String
    ) -> NetworkError {
        // Counted from the page that the list began with, which is page 1.
        NetworkError(
            .paging,
            "page \(ordinal + 1) of the list names page \(other + 1), which is already loaded, as the \(direction) one",
            request: page.response?.request)
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
        let between = position.itemCount(to: next, pageSize: largestPage)
        return itemCount.addingClamped(between) < maxItems ? next : nil
    }

    /// Adds the page before the first, up to where the first begins.
    ///
    /// - Returns: `false` if the page does not reach the first, because the server sends fewer items than
    ///   requested. Nothing has been added then, and `previous` is the position of a page that does.
    mutating func receivePrevious(_ page: Page<Item>) throws(NetworkError) -> Bool {
        guard let here = before else { return true }
        let sent = page.items.count
        var page = page
        if let first = pages.first?.position, let end = rule.itemsBefore(first),
            let start = rule.itemsBefore(here)
        {
            let distance = max(0, end.subtractingClamped(start))
            if sent > distance {
                page.items.removeLast(sent - distance)
            } else if sent > 0, sent < distance,
                // With 0 as the largest page, the rule goes back by the number of items in this one.
                let closer = try rule.previous(info(of: page, at: first, largestPage: 0)), closer != here
            {
                before = closer
                return false
            }
        }
        pageCount += 1
        total = page.total ?? total
        var isNew: Set<AnyHashable> = []
        let added = page.items.filter { item in
            guard let identity = options.identity?(item) else { return true }
            if let index = indices[identity] {
                items[index - taken] = item
                return false
            }
            return isNew.insert(identity).inserted
        }
        let shown = added.suffix(max(0, maxItems - items.count))
        items.insert(contentsOf: shown, at: 0)
        taken -= shown.count
        if let identity = options.identity {
            for (index, item) in shown.enumerated() { indices[identity(item)] = taken + index }
        }
        let number = ordinalBefore
        record(here, at: number)
        ordinalBefore -= 1
        if !page.items.isEmpty {
            takenPages -= 1
            pages.insert(
                HeldPage(
                    position: here, ordinal: number, count: shown.count, received: page.items.count),
                at: 0)
            if let window = options.window { while pages.count > max(1, window) { dropLast() } }
        }
        if isFull { hasMore = false }
        before = nil
        largestPage = max(largestPage, sent)
        let previous = try rule.previous(info(of: page, at: here))
        if let previous {
            if let other = previous == here ? number : visited[previous.hashValue], other >= number {
                throw circleError(of: page, from: number, to: other, "previous")
            }
        }
        before = page.items.isEmpty ? nil : previous
        return true
    }

    private func info(
        of page: Page<Item>, at here: PagePosition, largestPage: Int? = nil
    ) -> PageInfo {
        PageInfo(
            position: here, itemCount: page.items.count, largestPage: largestPage ?? self.largestPage,
            itemsSoFar: options.start == nil || options.start == rule.first ? received : nil,
            total: page.total,
            totalPages: page.totalPages, nextCursor: page.nextCursor, previousCursor: page.previousCursor,
            response: page.response)
    }

    private mutating func hold(_ page: HeldPage) {
        pages.append(page)
        if let window = options.window { while pages.count > max(1, window) { dropFirst() } }
    }

    private mutating func dropFirst() {
        let page = pages.removeFirst()
        forget(items.prefix(page.count))
        items.removeFirst(page.count)
        taken += page.count
        takenPages += 1
        before = page.position
        ordinalBefore = page.ordinal
    }

    private mutating func dropLast() {
        let page = pages.removeLast()
        forget(items.suffix(page.count))
        items.removeLast(page.count)
        received = received.subtractingClamped(page.received)
        position = page.position
        ordinal = page.ordinal
        emptyPages = 0
        hasMore = true
    }

    private mutating func forget(_ dropped: ArraySlice<Item>) {
        guard let identity = options.identity else { return }
        for item in dropped { indices[identity(item)] = nil }
    }

    /// The number of items, both current and earlier.
    private var itemCount: Int { max(0, taken) + items.count }

    /// The number of items at the end that exceed the limit.
    private var surplus: Int { min(items.count, max(0, itemCount - maxItems)) }

    private var isFull: Bool {
        max(0, takenPages) + pages.count >= maxPages || itemCount >= maxItems
    }

    private mutating func insert(_ item: Item) {
        guard let identity = options.identity?(item) else { return items.append(item) }
        guard let index = indices[identity] else {
            indices[identity] = taken + items.count
            return items.append(item)
        }
        if index >= taken { items[index - taken] = item }
    }

    /// Removes and returns the gathered items, for callers that pass them on at once. Later duplicates of
    /// these items are dropped.
    mutating func takeItems() -> [Item] {
        defer {
            taken += items.count
            takenPages += pages.count
            items = []
            pages = []
        }
        return items
    }
}

extension PagePosition {
    /// The number of items from this position to another, in pages of `pageSize` if only their number is known.
    fileprivate func itemCount(to other: PagePosition, pageSize: Int) -> Int {
        switch (self, other) {
        case (.number(let here), .number(let there)):
            there.subtractingClamped(here).multipliedClamped(by: pageSize)
        case (.page(_, let here), .page(_, let there)), (.offset(let here), .offset(let there)):
            there.subtractingClamped(here)
        default: 0
        }
    }
}
