public import RxHTTP
public import RxLite
public import RxParameters

extension Client {
    /// A list that is loaded page by page, driven by two signals.
    ///
    /// ```swift
    /// let loadMore = Signal<Void>(), reload = Signal<Void>()
    /// client.pages(GoodsList(keyword: "tea"), .numbered(size: 20), next: loadMore, reload: reload)
    ///     .subscribe { state in render(state.items, state.phase) }
    /// ```
    ///
    /// A subscription loads the first page. One page is loaded at a time: the list ignores `next` while it loads, and
    /// `reload` replaces a load in progress. After a failed page the items stay, and `next` tries the page again. After
    /// a `paging` failure there is no page to try, and only `reload` continues. The stream never fails and never ends;
    /// each value is the whole state. A list belongs to the account that is logged in when it is subscribed to: once
    /// that account is logged out, its pages fail with `loginExpired`, and another account needs another list.
    public func pages<Item, E: Endpoint<[Item]>>(
        _ endpoint: E, _ rule: PagingRule, options: PagingOptions<Item> = PagingOptions(),
        next: Signal<Void>, reload: Signal<Void> = Signal()
    ) -> Observable<PagingState<Item>, Never> {
        pages(endpoint, rule, options: options, next: next, reload: reload) { Page($0) }
    }

    /// A list inside the output of an endpoint, loaded page by page and driven by two signals.
    ///
    /// - Parameter content: extracts items and totals from the output.
    public func pages<E: Endpoint, Item>(
        _ endpoint: E, _ rule: PagingRule, options: PagingOptions<Item> = PagingOptions(),
        next: Signal<Void>, reload: Signal<Void> = Signal(),
        content: @escaping @Sendable (E.Output) throws(NetworkError) -> Page<Item>
    ) -> Observable<PagingState<Item>, Never> {
        pages(
            endpoint, rule, options: options,
            on: .merge(next.observable.map { .next }, reload.observable.map { .reload }), content: content)
    }

    /// A list that is driven by one stream of commands, from any source.
    ///
    /// ```swift
    /// client.pages(GoodsList(keyword: "tea"), .offset(size: 20), on: list.lastVisibleRow.map { .visible($0) })
    /// ```
    ///
    /// When the commands end, the list stays unchanged.
    public func pages<Item, E: Endpoint<[Item]>>(
        _ endpoint: E, _ rule: PagingRule, options: PagingOptions<Item> = PagingOptions(),
        on commands: Observable<PagingCommand, Never>
    ) -> Observable<PagingState<Item>, Never> {
        pages(endpoint, rule, options: options, on: commands) { Page($0) }
    }

    /// A list inside the output of an endpoint, driven by one stream of commands.
    ///
    /// - Parameter content: extracts items and totals from the output.
    public func pages<E: Endpoint, Item>(
        _ endpoint: E, _ rule: PagingRule, options: PagingOptions<Item> = PagingOptions(),
        on commands: Observable<PagingCommand, Never>,
        content: @escaping @Sendable (E.Output) throws(NetworkError) -> Page<Item>
    ) -> Observable<PagingState<Item>, Never> {
        let scheduler = scheduler
        return Observable(scheduler: scheduler) { observer in
            let account = self.account(in: observer.scope.lane)
            commands.accumulatePages(
                rule, options: options, on: scheduler, loading: self.loader(endpoint, account, content)
            )
            .subscribe(observer)
        }
    }

    /// All items of a list as one stream, page after page. The stream loads the next page once
    /// the previous page has been consumed, or as far ahead as ``PagingOptions/ahead`` says. The first failure
    /// ends it.
    public func items<Item, E: Endpoint<[Item]>>(
        _ endpoint: E, _ rule: PagingRule, options: PagingOptions<Item> = PagingOptions()
    ) -> Observable<Item, NetworkError> {
        items(endpoint, rule, options: options) { Page($0) }
    }

    /// All items of a list inside the output of an endpoint as one stream, page after page.
    ///
    /// - Parameter content: extracts items and totals from the output.
    public func items<E: Endpoint, Item>(
        _ endpoint: E, _ rule: PagingRule, options: PagingOptions<Item> = PagingOptions(),
        content: @escaping @Sendable (E.Output) throws(NetworkError) -> Page<Item>
    ) -> Observable<Item, NetworkError> {
        eachPage(endpoint, rule, options: options, content: content).flatMap(.concat) { .sequence($0.items) }
    }

    /// The pages of a list in order, each with its position and that of the next page: for a list that is read in a
    /// loop and continued later.
    ///
    /// ```swift
    /// for try await page in client.eachPage(GoodsList(keyword: "tea"), .offset(size: 100), from: saved) {
    ///     try store.insert(page.items, continuingAt: page.next)
    /// }
    /// ```
    ///
    /// The stream loads the next page once the previous page has been consumed, or as far ahead as
    /// ``PagingOptions/ahead`` says. The first failure ends it.
    ///
    /// - Parameters:
    ///   - endpoint: the endpoint of the list.
    ///   - rule: how the list is divided into pages.
    ///   - options: deduplication, limits and pages ahead.
    ///   - start: the position of the first page to load, such as a saved ``Page/next``. Default `nil`: the start of
    ///     `options`, without one the first page of the list.
    public func eachPage<Item, E: Endpoint<[Item]>>(
        _ endpoint: E, _ rule: PagingRule, options: PagingOptions<Item> = PagingOptions(),
        from start: PagePosition? = nil
    ) -> Observable<Page<Item>, NetworkError> {
        eachPage(endpoint, rule, options: options, from: start) { Page($0) }
    }

    /// The pages of an endpoint whose output is a ``Page``: with totals, or the cursor or URL of the next one.
    public func eachPage<Item, E: Endpoint<Page<Item>>>(
        _ endpoint: E, _ rule: PagingRule, options: PagingOptions<Item> = PagingOptions(),
        from start: PagePosition? = nil
    ) -> Observable<Page<Item>, NetworkError> {
        eachPage(endpoint, rule, options: options, from: start) { $0 }
    }

    /// The pages of an endpoint whose output contains the list.
    ///
    /// - Parameter content: extracts items, totals and cursors from the output.
    public func eachPage<E: Endpoint, Item>(
        _ endpoint: E, _ rule: PagingRule, options: PagingOptions<Item> = PagingOptions(),
        from start: PagePosition? = nil,
        content: @escaping @Sendable (E.Output) throws(NetworkError) -> Page<Item>
    ) -> Observable<Page<Item>, NetworkError> {
        let scheduler = scheduler
        var options = options
        options.start = start ?? options.start
        return Observable(scheduler: scheduler) { [options] observer in
            let account = self.account(in: observer.scope.lane)
            Observable<Page<Item>, NetworkError>.eachPage(
                rule, options: options, on: scheduler, loading: self.loader(endpoint, account, content)
            )
            .subscribe(observer)
        }
    }

    private func loader<E: Endpoint, Item>(
        _ endpoint: E, _ account: SessionAccount?,
        _ content: @escaping @Sendable (E.Output) throws(NetworkError) -> Page<Item>
    ) -> Paging<Item>.Load {
        { page in
            let overrides = CallOverrides(page: PageRequest(page), account: account)
            return self.typed(endpoint, .request, overrides, as: { $0 }).map { result throws(NetworkError) in
                var page = try content(result.output)
                page.response = result.response
                return page
            }
        }
    }
}

// MARK: - Pages from any source

extension Observable where Element == PagingCommand, Failure == Never {
    /// Accumulates pages from any source into the state of one list, as the commands request them. It is the
    /// operator behind ``Client/pages(_:_:options:on:)``, for pages from a database, a chain of operators, or
    /// a test.
    ///
    /// ```swift
    /// commands.accumulatePages(.offset(size: 20)) { page in
    ///     goods.rows(at: page.position).map { Page($0.rows, total: $0.count) }
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
    ///   - load: a stream of the page at a position, with the rule's parameters for it; the position is `nil` for the
    ///     first page of a rule that leaves it to the endpoint. Its first value is the page.
    public func accumulatePages<Item>(
        _ rule: PagingRule, options: PagingOptions<Item> = PagingOptions(),
        on scheduler: (any Scheduler)? = nil,
        loading load:
            @escaping @Sendable (_ page: (position: PagePosition?, parameters: Parameters.Values)) ->
            Observable<
                Page<Item>, NetworkError
            >
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
    /// Observable<Goods, NetworkError>.items(.offset(size: 100)) { page in
    ///     goods.rows(at: page.position).map { Page($0.rows, total: $0.count) }
    /// }
    /// ```
    ///
    /// The stream loads the next page once the previous page has been consumed, or as far ahead as
    /// ``PagingOptions/ahead`` says. The first failure ends the stream.
    ///
    /// - Parameters:
    ///   - rule: how the list is divided into pages.
    ///   - options: deduplication, limits, pages ahead and start.
    ///   - scheduler: the scheduler of the stream. Default `nil`: the threads on which the pages arrive.
    ///   - load: a stream of the page at a position, with the rule's parameters for it; the position is `nil` for the
    ///     first page of a rule that leaves it to the endpoint. Its first value is the page.
    public static func items(
        _ rule: PagingRule, options: PagingOptions<Element> = PagingOptions(),
        on scheduler: (any Scheduler)? = nil,
        loading load:
            @escaping @Sendable (_ page: (position: PagePosition?, parameters: Parameters.Values)) ->
            Observable<
                Page<Element>, NetworkError
            >
    ) -> Observable {
        Observable<Page<Element>, NetworkError>.eachPage(
            rule, options: options, on: scheduler, loading: load
        )
        .flatMap(.concat) { .sequence($0.items) }
    }
}

extension Observable where Failure == NetworkError {
    /// The pages of a list whose pages come from any source, one after the other. It is the stream behind
    /// `Client.eachPage`.
    ///
    /// The stream loads the next page once the previous page has been consumed, or as far ahead as
    /// ``PagingOptions/ahead`` says. The first failure ends the stream.
    ///
    /// - Parameters:
    ///   - rule: how the list is divided into pages.
    ///   - options: deduplication, limits, pages ahead and start.
    ///   - scheduler: the scheduler of the stream. Default `nil`: the threads on which the pages arrive.
    ///   - load: a stream of the page at a position, with the rule's parameters for it; the position is `nil` for the
    ///     first page of a rule that leaves it to the endpoint. Its first value is the page.
    public static func eachPage<Item>(
        _ rule: PagingRule, options: PagingOptions<Item> = PagingOptions(),
        on scheduler: (any Scheduler)? = nil,
        loading load:
            @escaping @Sendable (_ page: (position: PagePosition?, parameters: Parameters.Values)) ->
            Observable<
                Page<Item>, NetworkError
            >
    ) -> Observable where Element == Page<Item> {
        Observable(scheduler: scheduler) { observer in
            PageIterator(rule, options, load, into: observer).start()
        }
    }
}

extension Observable where Failure == Never {
    /// Shows the items of the previous list until the first page of the new one arrives, for a list that is replaced by
    /// another one, such as the results of a search. Without this operator the new list begins empty.
    ///
    /// ```swift
    /// keywords.flatMap(.latest) { keyword in
    ///     client.pages(GoodsList(keyword: keyword), .numbered(size: 20), next: loadMore, reload: reload)
    /// }
    /// .keepingItems()
    /// .subscribe { state in render(state.items, state.phase) }
    /// ```
    ///
    /// The old items, with their `page` and `total`, also stay if the first page fails. ``PagingState/position`` is
    /// always the new list's.
    public func keepingItems<Item>() -> Observable where Element == PagingState<Item> {
        scan(Element()) { shown, state in
            // ``Paging`` leaves `page` at 0 until it shows the first page.
            guard state.page == 0, state.phase != .end else { return state }
            var state = state
            (state.items, state.page, state.total) = (shown.items, shown.page, shown.total)
            return state
        }
    }
}
