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
    ///   - startKey: the name of a parameter with the number of items before the page, such as `page_start`.
    ///     Default `nil`: it is not sent.
    ///   - last: how to recognize the last page without totals. Default ``LastPage/short``: a page after the
    ///     first that is shorter than `size` and than a page before it.
    public static func numbered(
        size: Int, from first: Int = 1, pageKey: String = "page", sizeKey: String = "pageSize",
        startKey: String? = nil, last: LastPage = .short
    ) -> PagingRule {
        let itemsBefore: @Sendable (PagePosition) -> Int = { position in
            guard case .number(let number) = position else { return 0 }
            return number.subtractingClamped(first).multipliedClamped(by: size)
        }
        var rule = PagingRule(first: .number(first)) { position in
            guard case .number(let number) = position else { return PagePlacement() }
            var parameters: Parameters.Values = [pageKey: number, sizeKey: size]
            if let startKey { parameters[startKey] = itemsBefore(position) }
            return PagePlacement(parameters: parameters)
        } next: { arrival in
            guard case .number(let number) = arrival.position else { return nil }
            let hasMore =
                arrival.totalPages.map { number.subtractingClamped(first).addingClamped(1) < $0 }
                ?? arrival.hasMore(last, size: size)
            return hasMore ? .number(number.addingClamped(1)) : nil
        }
        rule.previous = { arrival in
            guard case .number(let number) = arrival.position, number > first else { return nil }
            return .number(number - 1)
        }
        rule.expectedNext = { position, latest in
            guard case .number(let number) = position else { return nil }
            let next = number.addingClamped(1)
            let pagesBefore = next.subtractingClamped(first)
            if let pages = latest?.totalPages, pagesBefore >= pages { return nil }
            let before = pagesBefore.multipliedClamped(by: latest.pageSize(atMost: size))
            if let total = latest?.total, before >= total { return nil }
            return .number(next)
        }
        rule.itemsBefore = itemsBefore
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
    ///   - last: how to recognize the last page without totals. Default ``LastPage/short``: a page after the
    ///     first that is shorter than `size` and than a page before it.
    public static func offset(
        size: Int, from first: Int = 0, offsetKey: String = "offset", limitKey: String = "limit",
        last: LastPage = .short
    ) -> PagingRule {
        var rule = PagingRule(first: .offset(first)) { position in
            guard case .offset(let offset) = position else { return PagePlacement() }
            return PagePlacement(parameters: [offsetKey: offset, limitKey: size])
        } next: { arrival in
            guard case .offset(let offset) = arrival.position, arrival.hasMore(last, size: size) else {
                return nil
            }
            return .offset(offset.addingClamped(arrival.itemCount))
        }
        rule.previous = { arrival in
            guard case .offset(let offset) = arrival.position, offset > first else { return nil }
            return .offset(max(first, offset.subtractingClamped(size)))
        }
        rule.expectedNext = { position, latest in
            guard case .offset(let offset) = position else { return nil }
            let next = offset.addingClamped(latest.pageSize(atMost: size))
            if let total = latest?.total, next.subtractingClamped(first) >= total { return nil }
            return .offset(next)
        }
        rule.itemsBefore = { position in
            guard case .offset(let offset) = position else { return 0 }
            return offset.subtractingClamped(first)
        }
        return rule
    }
}

extension PageArrival {
    fileprivate func hasMore(_ last: PagingRule.LastPage, size: Int) -> Bool {
        if let totalPages { return itemsSoFar < totalPages.multipliedClamped(by: size) }
        if let total { return itemsSoFar < total }
        return last == .empty || itemCount >= min(size, largestPage)
    }
}

extension PageArrival? {
    /// The number of items per page that the server sends, as far as known.
    fileprivate func pageSize(atMost size: Int) -> Int {
        map { min(size, max($0.largestPage, $0.itemCount)) } ?? size
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
