import FoundationEssentials
public import RxHTTP
public import RxLite

extension Client {
    /// The running requests that show the indicator. For the requests of one screen, see
    /// ``Observable/tracked(by:loading:while:)``.
    ///
    /// ```swift
    /// client.activity.isActive.subscribe { indicator.isOn = $0 }
    /// ```
    ///
    /// A request counts once, from its start to any end, regardless of its attempts, logins and redirects: until its
    /// subscriber has received the outcome.
    public var activity: Activity { running.activity }

    /// The failures to show to the user: of all requests that do not opt out, in the order of the failures. A
    /// cancellation is not a failure, and the refusal of a login is one, however many requests waited for it. Never ends.
    ///
    /// ```swift
    /// client.errorTips.subscribe { error in toast.show(error.message) }
    /// ```
    public var errorTips: Observable<NetworkError, Never> { errorTipSignal.observable }

    /// Cancels running requests: closes their transfers and stops their callbacks.
    ///
    /// ```swift
    /// client.cancel(.tag("search"))
    /// ```
    ///
    /// A stream that contains the request fails with `cancelled`, so that code that waits for it continues:
    /// `await` throws the error, a group fails, a list of pages shows it. Only the callbacks of `subscribe`
    /// do not receive it. Later requests are not affected. Safe from any thread; on a thread other than the
    /// request's, a callback that is already running completes. A `SubscriptionBag` cancels the subscriptions
    /// of one owner.
    ///
    /// - Returns: the number of cancelled requests.
    @discardableResult
    public func cancel(_ selection: RequestSelection) -> Int {
        var target: URL?
        if case .url(let path) = selection {
            // An invalid URL matches no request.
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
