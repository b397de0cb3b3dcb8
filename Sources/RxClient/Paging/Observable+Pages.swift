public import RxHTTP
public import RxLite

extension Observable where Element == PagingCommand, Failure == Never {
    /// Accumulates pages from any source into the state of one list, as the commands request them. It is the
    /// operator behind ``Client/pages(_:_:options:on:)``, for pages from a database, a chain of operators, or
    /// a test.
    ///
    /// ```swift
    /// commands.accumulatePages(.offset(size: 20)) { placement in
    ///     goods.rows(at: placement.position).map { Page($0.rows, total: $0.count) }
    /// }
    /// ```
    ///
    /// A subscription loads the first page. One page is loaded at a time: the list ignores `next` while it
    /// loads, and `reload` replaces a load in progress. After a failed page the items stay, and `next` tries
    /// the page again. The list never fails and never ends; when the commands end, it stays unchanged.
    ///
    /// - Parameters:
    ///   - rule: how the list is divided into pages.
    ///   - options: deduplication, limits, window, prefetch distance and start.
    ///   - scheduler: the scheduler of the list. Default `nil`: the scheduler of the commands, if they have
    ///     one.
    ///   - load: a stream of the page at a placement. Its first value is the page.
    public func accumulatePages<Item>(
        _ rule: PagingRule, options: PagingOptions<Item> = PagingOptions(),
        on scheduler: (any Scheduler)? = nil,
        loading load: @escaping @Sendable (PagePlacement) -> Observable<Page<Item>, NetworkError>
    ) -> Observable<PagingState<Item>, Never> {
        Observable<PagingState<Item>, Never>(scheduler: scheduler ?? self.scheduler) { observer in
            Paging(rule, options, load, into: observer).start(self)
        }
    }
}

extension Observable where Failure == NetworkError {
    /// All items of a list whose pages come from any source, page after page. It is the stream behind
    /// ``Client/items(_:_:options:)``.
    ///
    /// ```swift
    /// Observable<Goods, NetworkError>.items(.offset(size: 100)) { placement in
    ///     goods.rows(at: placement.position).map { Page($0.rows, total: $0.count) }
    /// }
    /// ```
    ///
    /// The stream loads the next page when the items of the previous one have been taken, or as far ahead as
    /// ``PagingOptions/ahead`` says. The first failure ends the stream.
    ///
    /// - Parameters:
    ///   - rule: how the list is divided into pages.
    ///   - options: deduplication, limits, pages ahead and start.
    ///   - scheduler: the scheduler of the stream. Default `nil`: the threads on which the pages arrive.
    ///   - load: a stream of the page at a placement. Its first value is the page.
    public static func items(
        _ rule: PagingRule, options: PagingOptions<Element> = PagingOptions(),
        on scheduler: (any Scheduler)? = nil,
        loading load: @escaping @Sendable (PagePlacement) -> Observable<Page<Element>, NetworkError>
    ) -> Observable {
        Observable<LoadedPage<Element>, NetworkError>.eachPage(
            rule, options: options, on: scheduler, loading: load
        )
        .flatMap(.concat) { .sequence($0.items) }
    }
}

extension Observable where Failure == NetworkError {
    /// The pages of a list whose pages come from any source, one after the other. It is the stream behind
    /// `Client.eachPage`.
    ///
    /// The stream loads the next page when the previous one has been taken, or as far ahead as ``PagingOptions/ahead``
    /// says. The first failure ends the stream.
    ///
    /// - Parameters:
    ///   - rule: how the list is divided into pages.
    ///   - options: deduplication, limits, pages ahead and start.
    ///   - scheduler: the scheduler of the stream. Default `nil`: the threads on which the pages arrive.
    ///   - load: a stream of the page at a placement. Its first value is the page.
    public static func eachPage<Item>(
        _ rule: PagingRule, options: PagingOptions<Item> = PagingOptions(),
        on scheduler: (any Scheduler)? = nil,
        loading load: @escaping @Sendable (PagePlacement) -> Observable<Page<Item>, NetworkError>
    ) -> Observable where Element == LoadedPage<Item> {
        Observable(scheduler: scheduler) { observer in
            PageWalk(rule, options, load, into: observer).start()
        }
    }
}

extension Observable where Failure == Never {
    /// Shows the items of the previous list until the first page of the new one is there, for a list that is replaced by
    /// another one, such as the results of a search. Without it the new list begins empty.
    ///
    /// ```swift
    /// keywords.flatMap(.latest) { keyword in
    ///     client.pages(GoodsList(keyword: keyword), .numbered(size: 20), next: loadMore, reload: reload)
    /// }
    /// .keepingItems()
    /// .subscribe { state in render(state.items, state.phase) }
    /// ```
    ///
    /// The old items, with their `page` and `total`, also stay if the first page fails. ``PagingState/position`` is always
    /// the new list's.
    public func keepingItems<Item>() -> Observable where Element == PagingState<Item> {
        scan(Element()) { shown, state in
            guard state.page == 0, state.phase != .end else { return state }
            var state = state
            (state.items, state.page, state.total) = (shown.items, shown.page, shown.total)
            return state
        }
    }
}
