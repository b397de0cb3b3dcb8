import FoundationEssentials
public import HTTPTypes
public import RxHTTP
public import RxParameters

/// How a server divides a list into pages: the first page, the parameters of a page, and the positions after and before
/// it.
///
/// The rules of most servers are available as static members. Another rule is a value of closures:
///
/// ```swift
/// let byDay = PagingRule(first: .cursor("today")) { position in
///     guard case .cursor(let day) = position else { return [:] }
///     return ["day": day]
/// } next: { info in
///     info.response?.head[.dayBefore].map { .cursor($0) }
/// }
/// ```
public struct PagingRule: Sendable {
    /// The position of the first page. `nil`: the endpoint's.
    public var first: PagePosition?
    /// The parameters of the page at a position, in addition to the endpoint's, in the query or in the body. The page
    /// at ``PagePosition/link(_:)`` is requested at that URL instead of the endpoint's.
    public var parameters: @Sendable (PagePosition) -> Parameters.Values
    /// The position after a page; `nil` after the last. An empty page may have one. Throws `paging` if the server names
    /// an invalid position.
    public var next: @Sendable (PageInfo) throws(NetworkError) -> PagePosition?
    /// The position before a page; `nil` before the first. Default: always `nil`.
    public var previous: @Sendable (PageInfo) throws(NetworkError) -> PagePosition? = { _ in nil }
    /// The position after a page that has not arrived yet, provided that page is full; `nil` if it cannot be
    /// known, and beyond an end that the newest page, the second argument, shows. Default: always `nil`.
    public var expectedNext: @Sendable (PagePosition, PageInfo?) -> PagePosition? = { _, _ in nil }
    /// The statuses that mean that a page after the first is beyond the end, such as 404. Default: empty, so
    /// that all of them are failures.
    public var endStatuses: Set<Int> = []
    /// The number of items before a page, if its position tells, as an offset does. Default: always `nil`.
    public var itemsBefore: @Sendable (PagePosition) -> Int? = { _ in nil }

    /// Creates a rule.
    ///
    /// - Parameters:
    ///   - first: the position of the first page; `nil`: the endpoint's.
    ///   - parameters: the parameters of the page at a position.
    ///   - next: the position after a page; `nil` after the last.
    public init(
        first: PagePosition?, parameters: @escaping @Sendable (PagePosition) -> Parameters.Values,
        next: @escaping @Sendable (PageInfo) throws(NetworkError) -> PagePosition?
    ) {
        self.first = first
        self.parameters = parameters
        self.next = next
    }

    /// How to recognize the last page if the server sends no total.
    public enum LastPage: Sendable {
        /// The first page that is shorter than requested and shorter than a page before it: a server that caps the
        /// size of its pages sends the same number each time, less than requested.
        case shorterThanEarlier
        /// The first page that is shorter than requested, even if it is the first. A list that has less than one page
        /// then needs one request instead of two. With a server that caps the size of its pages, the list ends too
        /// early.
        case short
        /// The first empty page: for servers that filter pages after dividing the list.
        case empty
    }
}

// MARK: - Numbers and offsets

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
        let page: @Sendable (PagePosition?) -> (number: Int, start: Int?)? = { position in
            switch position {
            case .number(let number):
                // Given by the app, which need not know the items before: as if the pages were full.
                (number, startKey.map { _ in number.subtractingClamped(first).multipliedClamped(by: size) })
            case .page(let number, let start): (number, start)
            default: nil
            }
        }
        let position: @Sendable (Int, Int?) -> PagePosition = { number, start in
            start.map { .page(number, start: $0) } ?? .number(number)
        }
        var rule = PagingRule(first: position(first, startKey.map { _ in 0 })) { position in
            guard let page = page(position) else { return [:] }
            var parameters: Parameters.Values = [pageKey: page.number, sizeKey: size]
            if let startKey { parameters[startKey] = page.start }
            return parameters
        } next: { info in
            guard let page = page(info.position), info.itemCount > 0 else { return nil }
            let pages = page.number.subtractingClamped(first).addingClamped(1)
            // Never above the true number, so that no page is missed: pages before the last have the same length.
            let itemsSoFar =
                page.start?.addingClamped(info.itemCount) ?? info.itemsSoFar
                ?? pages.subtractingClamped(1).multipliedClamped(by: info.observedPageSize)
                .addingClamped(info.itemCount)
            let hasMore =
                info.totalPages.map { pages < $0 }
                ?? info.hasMore(last, size: size, itemsSoFar: itemsSoFar)
            guard hasMore else { return nil }
            return position(page.number.addingClamped(1), page.start?.addingClamped(info.itemCount))
        }
        rule.previous = { info in
            guard let page = page(info.position), page.number > first else { return nil }
            let pages = page.number.subtractingClamped(first)
            return position(page.number - 1, page.start.map { $0 / pages * (pages - 1) })
        }
        // As `next` after a full page, here and for offsets: ``PageIterator`` drops a page that it has loaded ahead at
        // another position.
        rule.expectedNext = { here, latest in
            guard let page = page(here) else { return nil }
            let pageSize = min(size, latest?.observedPageSize ?? size)
            let pages = page.number.subtractingClamped(first).addingClamped(1)
            if let known = latest?.totalPages, pages >= known { return nil }
            if let total = latest?.total, pages.multipliedClamped(by: pageSize) >= total { return nil }
            return position(page.number.addingClamped(1), page.start?.addingClamped(pageSize))
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
            guard case .offset(let offset) = position else { return [:] }
            return [offsetKey: offset, limitKey: size]
        } next: { info in
            guard case .offset(let offset) = info.position, info.itemCount > 0 else { return nil }
            let next = offset.addingClamped(info.itemCount)
            return info.hasMore(last, size: size, itemsSoFar: next.subtractingClamped(first))
                ? .offset(next) : nil
        }
        rule.previous = { info in
            guard case .offset(let offset) = info.position, offset > first else { return nil }
            let observed = info.observedPageSize
            let pageSize = observed > 0 ? min(size, observed) : size
            return .offset(max(first, offset.subtractingClamped(pageSize)))
        }
        rule.expectedNext = { position, latest in
            guard case .offset(let offset) = position else { return nil }
            let next = offset.addingClamped(min(size, latest?.observedPageSize ?? size))
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

extension PageInfo {
    /// The greatest number of items in a page so far.
    fileprivate var observedPageSize: Int { max(largestPage, itemCount) }

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

// MARK: - Cursors and links

extension PagingRule {
    /// Pages by a cursor: each page contains the cursor of the next. `limit=20`, then `cursor=abc&limit=20` …
    ///
    /// The last page has no cursor, an empty cursor, or no items. The first request has no cursor. A repeated
    /// cursor fails with `paging`.
    ///
    /// - Parameters:
    ///   - size: the number of items per page; `nil` sends no size.
    ///   - cursorKey: the name of the cursor in requests. Default `cursor`.
    ///   - sizeKey: the name of the size. Default `limit`.
    ///   - header: the response field with the next cursor. Default `nil`: the content has it, as
    ///     ``Page/nextCursor``.
    public static func cursor(
        size: Int? = nil, cursorKey: String = "cursor", sizeKey: String = "limit",
        inHeader header: HTTPField.Name? = nil
    ) -> PagingRule {
        // An empty cursor stands for none, so that the first request has a size too.
        var rule = PagingRule(first: .cursor("")) { position in
            guard case .cursor(let cursor) = position else { return [:] }
            var parameters: Parameters.Values = [:]
            if !cursor.isEmpty { parameters[cursorKey] = cursor }
            if let size { parameters[sizeKey] = size }
            return parameters
        } next: { info in
            let cursor = header.map { info.response?.head[$0] } ?? info.nextCursor
            return cursor.flatMap { $0.isEmpty ? nil : .cursor($0) }
        }
        rule.previous = { info in
            info.previousCursor.flatMap { $0.isEmpty ? nil : .cursor($0) }
        }
        return rule
    }

    /// Pages joined by `Link: <…>; rel="next"` (RFC 8288). The last page has no such link; `rel="prev"` leads
    /// back.
    ///
    /// Links to another origin are followed without credentials: without `Authorization`, `Cookie`,
    /// `Proxy-Authorization`, the fields marked secret and the session's credential. The request keeps its
    /// method, its body and all other header fields. Only GET and HEAD requests are sent to another origin;
    /// with another method such a link fails with `paging`. So does a link that is not an http or https URL.
    public static let link: PagingRule = {
        var rule = PagingRule(first: nil) { _ in
            [:]
        } next: { info throws(NetworkError) in
            try info.link("next")
        }
        rule.previous = { info throws(NetworkError) in try info.link("prev") }
        return rule
    }()
}

extension PagingRule {
    /// Pages whose content has the URL of the next page, as ``Page/nextCursor``: `next` in Django REST
    /// framework, `next_url` in datasette. The last page has no URL, or an empty one; ``Page/previousCursor``
    /// leads back.
    ///
    /// A relative URL is resolved against the URL of the response (RFC 3986 §5). A URL of another origin is
    /// followed without credentials, as with ``link``. URLs other than http and https fail with `paging`.
    ///
    /// ```swift
    /// client.items(Users(), .nextURL) { Page($0.results, total: $0.count, nextCursor: $0.next) }
    /// ```
    public static let nextURL: PagingRule = {
        var rule = PagingRule.link
        rule.next = { info throws(NetworkError) in try info.page(at: info.nextCursor) }
        rule.previous = { info throws(NetworkError) in try info.page(at: info.previousCursor) }
        return rule
    }()
}

extension PageInfo {
    /// The position of a URL in the content.
    fileprivate func page(at text: String?) throws(NetworkError) -> PagePosition? {
        guard let text, !text.isEmpty else { return nil }
        let url = response.map { URL(reference: text, base: $0.url) } ?? URL(string: text)
        guard let url, Origin(url) != nil else {
            throw NetworkError(
                .paging, "the page's URL \(text.withoutSecrets) is not an http or https URL",
                request: response?.request)
        }
        return .link(url)
    }

    fileprivate func link(_ relation: String) throws(NetworkError) -> PagePosition? {
        guard let response, let header = response.head[.link] else { return nil }
        return try LinkHeader(header).target(of: relation, in: response).map { .link($0) }
    }
}
