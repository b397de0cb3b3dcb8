public import RxHTTP
public import RxLite

extension Observable where Element == PagingCommand, Failure == Never {
    /// Accumulates pages from any source into the state of one list, as the commands ask for them. It is the operator
    /// behind ``Client/pages(_:_:options:on:)``, for pages of a database, of a chain of operators, or of a test.
    ///
    /// ```swift
    /// commands.accumulatePages(.offset(size: 20)) { placement in
    ///     goods.rows(at: placement.position).map { Page($0.rows, total: $0.count) }
    /// }
    /// ```
    ///
    /// Subscribing loads the first page. One page is loaded at a time: `next` while loading is ignored, `reload` while
    /// loading wins. After a failed page the items stay, and `next` tries again. The list never fails and never ends;
    /// when the commands end it stays unchanged.
    ///
    /// - Parameters:
    ///   - rule: how the list is divided into pages.
    ///   - options: deduplication, limits, window, prefetch distance and start.
    ///   - scheduler: runs the list. Default `nil`: the scheduler of the commands, if they have one.
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
    /// The next page is loaded when the items of the last have been taken, or as far ahead as ``PagingOptions/ahead``
    /// says. The first failure ends the stream.
    ///
    /// - Parameters:
    ///   - rule: how the list is divided into pages.
    ///   - options: deduplication, limits, pages ahead and start.
    ///   - scheduler: runs the stream. Default `nil`: the threads that the pages arrive on.
    ///   - load: a stream of the page at a placement. Its first value is the page.
    public static func items(
        _ rule: PagingRule, options: PagingOptions<Element> = PagingOptions(),
        on scheduler: (any Scheduler)? = nil,
        loading load: @escaping @Sendable (PagePlacement) -> Observable<Page<Element>, NetworkError>
    ) -> Observable {
        Observable<[Element], NetworkError>(scheduler: scheduler) { observer in
            PageWalk(rule, options, load, into: observer).start()
        }
        .flatMap(.concat) { .sequence($0) }
    }
}
