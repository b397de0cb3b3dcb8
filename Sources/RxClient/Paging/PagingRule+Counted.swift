import RxParameters

extension PagingRule {
    /// Pages by number: `page=1&pageSize=20`, `page=2&pageSize=20` …
    ///
    /// The last page is the one that completes the total, by items or by pages, if the server sends a total;
    /// otherwise the page that `last` defines. An empty page is always the last. The parameters are sent with
    /// the endpoint's, in the query or in the body.
    ///
    /// - Parameters:
    ///   - size: the number of items per page.
    ///   - first: the number of the first page. Default 1.
    ///   - pageKey: the name of the page number. Default `page`.
    ///   - sizeKey: the name of the size. Default `pageSize`.
    ///   - startKey: the name of a parameter with the number of items before the page, such as `page_start`, counted
    ///     from the pages received. Default `nil`: it is not sent.
    ///   - last: how to recognize the last page without totals. Default
    ///     ``LastPage/shorterThanEarlier``: a page that is shorter than `size` and than a page before it.
    public static func numbered(
        size: Int, from first: Int = 1, pageKey: String = "page", sizeKey: String = "pageSize",
        startKey: String? = nil, last: LastPage = .shorterThanEarlier
    ) -> PagingRule {
        /// The number of a position, and the number of items before it, which only a rule with `startKey` counts.
        let place: @Sendable (PagePosition?) -> (number: Int, start: Int?)? = { position in
            switch position {
            case .number(let number):
                // Given by the app, which cannot know it.
                (number, startKey.map { _ in number.subtractingClamped(first).multipliedClamped(by: size) })
            case .page(let number, let start): (number, start)
            default: nil
            }
        }
        let position: @Sendable (Int, Int?) -> PagePosition = { number, start in
            start.map { .page(number, start: $0) } ?? .number(number)
        }
        var rule = PagingRule(first: position(first, startKey.map { _ in 0 })) { position in
            guard let place = place(position) else { return PagePlacement() }
            var parameters: Parameters.Values = [pageKey: place.number, sizeKey: size]
            if let startKey { parameters[startKey] = place.start }
            return PagePlacement(parameters: parameters)
        } next: { arrival in
            guard let place = place(arrival.position), arrival.itemCount > 0 else { return nil }
            let pages = place.number.subtractingClamped(first).addingClamped(1)
            // Never more than there are, so that no page is missed: pages before the last have the same length.
            let itemsSoFar =
                place.start?.addingClamped(arrival.itemCount) ?? arrival.itemsSoFar
                ?? pages.subtractingClamped(1).multipliedClamped(by: arrival.pageSize)
                .addingClamped(arrival.itemCount)
            let hasMore =
                arrival.totalPages.map { pages < $0 }
                ?? arrival.hasMore(last, size: size, itemsSoFar: itemsSoFar)
            guard hasMore else { return nil }
            return position(place.number.addingClamped(1), place.start?.addingClamped(arrival.itemCount))
        }
        rule.previous = { arrival in
            guard let place = place(arrival.position), place.number > first else { return nil }
            let pages = place.number.subtractingClamped(first)
            return position(place.number - 1, place.start.map { $0 / pages * (pages - 1) })
        }
        rule.expectedNext = { here, latest in
            guard let place = place(here) else { return nil }
            let pageSize = min(size, latest?.pageSize ?? size)
            let pages = place.number.subtractingClamped(first).addingClamped(1)
            if let known = latest?.totalPages, pages >= known { return nil }
            if let total = latest?.total, pages.multipliedClamped(by: pageSize) >= total { return nil }
            return position(place.number.addingClamped(1), place.start?.addingClamped(pageSize))
        }
        return rule
    }

    /// Pages by the number of items before them: `offset=0&limit=20`, `offset=20&limit=20` …
    ///
    /// The next page begins after the received items, even if a page was shorter than requested. The last
    /// page is recognized as in ``numbered(size:from:pageKey:sizeKey:startKey:last:)``.
    ///
    /// - Parameters:
    ///   - size: the number of items per page.
    ///   - first: the offset of the first page. Default 0.
    ///   - offsetKey: the name of the offset. Default `offset`.
    ///   - limitKey: the name of the size. Default `limit`.
    ///   - last: how to recognize the last page without totals. Default
    ///     ``LastPage/shorterThanEarlier``: a page that is shorter than `size` and than a page before it.
    public static func offset(
        size: Int, from first: Int = 0, offsetKey: String = "offset", limitKey: String = "limit",
        last: LastPage = .shorterThanEarlier
    ) -> PagingRule {
        var rule = PagingRule(first: .offset(first)) { position in
            guard case .offset(let offset) = position else { return PagePlacement() }
            return PagePlacement(parameters: [offsetKey: offset, limitKey: size])
        } next: { arrival in
            guard case .offset(let offset) = arrival.position, arrival.itemCount > 0 else { return nil }
            let next = offset.addingClamped(arrival.itemCount)
            return arrival.hasMore(last, size: size, itemsSoFar: next.subtractingClamped(first))
                ? .offset(next) : nil
        }
        rule.previous = { arrival in
            guard case .offset(let offset) = arrival.position, offset > first else { return nil }
            let pageSize = arrival.pageSize > 0 ? min(size, arrival.pageSize) : size
            return .offset(max(first, offset.subtractingClamped(pageSize)))
        }
        rule.expectedNext = { position, latest in
            guard case .offset(let offset) = position else { return nil }
            let next = offset.addingClamped(min(size, latest?.pageSize ?? size))
            if let total = latest?.total, next.subtractingClamped(first) >= total { return nil }
            return .offset(next)
        }
        rule.itemsBefore = { position in
            guard case .offset(let offset) = position else { return nil }
            return offset.subtractingClamped(first)
        }
        return rule
    }
}

extension PageArrival {
    /// The greatest number of items in a page so far.
    fileprivate var pageSize: Int { max(largestPage, itemCount) }

    fileprivate func hasMore(_ last: PagingRule.LastPage, size: Int, itemsSoFar: Int) -> Bool {
        if let totalPages { return itemsSoFar < totalPages.multipliedClamped(by: size) }
        if let total { return itemsSoFar < total }
        return switch last {
        case .shorterThanEarlier: itemCount >= min(size, largestPage)
        case .short: itemCount >= size
        case .empty: true
        }
    }
}

// Positions can come from saved data, so no number may trap.
extension Int {
    func addingClamped(_ other: Int) -> Int {
        let (sum, overflow) = addingReportingOverflow(other)
        return overflow ? (other < 0 ? .min : .max) : sum
    }

    func subtractingClamped(_ other: Int) -> Int {
        let (difference, overflow) = subtractingReportingOverflow(other)
        return overflow ? (other < 0 ? .max : .min) : difference
    }

    func multipliedClamped(by other: Int) -> Int {
        let (product, overflow) = multipliedReportingOverflow(by: other)
        return overflow ? ((self < 0) == (other < 0) ? .max : .min) : product
    }
}
