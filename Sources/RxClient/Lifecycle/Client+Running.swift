import FoundationEssentials
public import RxHTTP
public import RxLite

extension Client {
    /// How many requests are running that show it: what a loading indicator follows.
    ///
    /// ```swift
    /// client.activity.observable.map { $0 > 0 }.distinctUntilChanged().subscribe { indicator.isOn = $0 }
    /// ```
    ///
    /// A request counts once from its start to any end, regardless of its attempts, logins and redirects, and no longer
    /// once its subscriber has the outcome.
    public var activity: Property<Int> { Property(running.shownCount) }

    /// The failures to show to the user: those of all requests that do not turn it off, in the order in which they
    /// fail. A cancellation is not a failure. Never ends.
    ///
    /// ```swift
    /// client.errorTips.subscribe { error in toast.show(error.message) }
    /// ```
    public var errorTips: Observable<NetworkError, Never> { errorTipSignal.observable }

    /// Cancels running requests: their transfers are closed, and callbacks of theirs are not called any more.
    ///
    /// ```swift
    /// client.cancel(.tag("search"))
    /// ```
    ///
    /// A stream that the request is part of fails with `cancelled`, so that code that waits for it continues: `await`
    /// throws it, a group fails, a list of pages shows it. Only the callbacks of `subscribe` are spared it. Requests
    /// that begin later are not affected. Safe from any thread; from another than the request's, at most the callback
    /// already running completes. A `SubscriptionBag` cancels the subscriptions of one owner.
    ///
    /// - Returns: how many there were.
    @discardableResult
    public func cancel(_ selection: RequestSelection) -> Int {
        var target: URL?
        if case .url(let path) = selection {
            // Of what is no URL there is no request.
            guard
                let url = try? servers.pair.url(
                    for: path, allowingOtherOrigins: configuration.allowsOtherOrigins)
            else { return 0 }
            target = url
        }
        let entries = running.entries(selection, url: target)
        for entry in entries { entry.cancel() }
        return entries.count
    }
}
