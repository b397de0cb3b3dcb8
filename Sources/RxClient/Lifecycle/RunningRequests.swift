import FoundationEssentials
public import RxHTTP
public import RxLite
import Synchronization

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

/// A selection of a client's running requests.
public enum RequestSelection: Sendable, Hashable {
    /// All requests.
    case all
    /// The request with this id.
    case id(RequestID)
    /// All requests to this URL, or to this path below the client's base URL, with any query.
    case url(String)
    /// All requests with this tag among their ``RequestOptions/tags``.
    case tag(String)
}

extension RequestSelection: RedactedDescription {
    /// The kind and its value, without user info and query.
    public var description: String {
        switch self {
        case .all: "all"
        case .id(let id): "\(id)"
        case .url(let url): "URL \(url.withoutSecrets)"
        case .tag(let tag): "tag \(tag)"
        }
    }
}

// MARK: - Shutting down

extension Client {
    /// Shuts the client down: refuses new requests with ``NetworkError/Code/shutDown``, lets running requests end, and
    /// cancels those still running after `limit` (``NetworkError/Code/cancelled``).
    ///
    /// ```swift
    /// try await client.shutDown(within: .seconds(20)).value()
    /// ```
    ///
    /// Nothing happens before a subscription. The stream sends one value and ends when no request is running;
    /// cancelling it cancels the requests at once. A shutdown is permanent. Its transport, which other clients may use,
    /// is not shut down.
    ///
    /// A login that requests wait for may still send its requests. Requests built by hand
    /// (``exchange(_:following:usesCookies:)``) are not cancelled, and are awaited only up to the limit. Streams
    /// without end, such as those of events and WebSockets, run until the limit; so do lists, whose next page is
    /// refused.
    ///
    /// - Parameter limit: the time that requests may take to end.
    public func shutDown(within limit: Duration) -> Observable<Void, Never> {
        let scheduler = scheduler
        return Observable(scheduler: scheduler) { observer in
            guard observer.scope.isOpen else { return }
            // Without effect once no request is running.
            observer.scope.onClose { self.cancel(.all) }
            let timer = OperatorTimer(scheduler, in: observer.scope)
            timer.set(after: limit) {
                self.cancel(.all)
                self.running.abandonRaw()
            }
            self.running.close {
                observer.scope.enter {
                    observer.next(())
                    observer.finish()
                }
            }
        }
    }
}

extension NetworkError {
    /// The error of a request that a client refuses because it has been shut down.
    static func shutDown(_ request: Request) -> NetworkError {
        var error = NetworkError(.shutDown, "the client has been shut down", request: request)
        error.isUnsent = true
        return error
    }
}

// MARK: - The list

/// The running requests of a client.
final class RunningRequests: Sendable {
    struct Entry: Sendable {
        let request: Request
        let tags: Set<String>
        let presentation: Presentation
        /// Ends the request with `cancelled`. Safe from any thread.
        let cancel: @Sendable () -> Void
    }

    private struct Contents {
        var entries: [RequestID: Entry] = [:]
        /// The number of running requests that were built by hand.
        var rawCount = 0
        /// Whether no subscriber waits for them.
        var abandonsRaw = false
        /// Whether new requests are refused.
        var isClosed = false
        /// Called once no request is running.
        var waiters: [@Sendable () -> Void] = []

        /// The waiters to call, if no request is running any more.
        mutating func takeWaiters() -> [@Sendable () -> Void] {
            guard !waiters.isEmpty, entries.isEmpty, rawCount == 0 || abandonsRaw
            else { return [] }
            defer { waiters = [] }
            return waiters
        }
    }

    private let contents = Mutex(Contents())
    /// The requests that show the indicator.
    let activity = Activity()

    /// Adds a request; false if new requests are refused and `isExempt` is false.
    func insert(_ entry: Entry, isExempt: () -> Bool) -> Bool {
        let isAdded = add(entry, evenIfClosed: false) || isExempt() && add(entry, evenIfClosed: true)
        if isAdded, entry.presentation.contains(.indicator) { activity.begin(self) }
        return isAdded
    }

    private func add(_ entry: Entry, evenIfClosed: Bool) -> Bool {
        contents.withLock { contents in
            guard evenIfClosed || !contents.isClosed else { return false }
            contents.entries[entry.request.id] = entry
            return true
        }
    }

    /// Adds a request built by hand; false if new requests are refused.
    func insertRaw() -> Bool {
        contents.withLock { contents in
            if !contents.isClosed { contents.rawCount += 1 }
            return !contents.isClosed
        }
    }

    func removeRaw() {
        let waiters = contents.withLock { contents in
            contents.rawCount -= 1
            return contents.takeWaiters()
        }
        for waiter in waiters { waiter() }
    }

    /// Stops waiting for requests built by hand.
    func abandonRaw() {
        let waiters = contents.withLock { contents in
            contents.abandonsRaw = true
            return contents.takeWaiters()
        }
        for waiter in waiters { waiter() }
    }

    /// Refuses new requests, and calls `whenIdle` once no request is running, which may be at once.
    func close(_ whenIdle: @escaping @Sendable () -> Void) {
        let waiters = contents.withLock { contents in
            contents.isClosed = true
            contents.waiters.append(whenIdle)
            return contents.takeWaiters()
        }
        for waiter in waiters { waiter() }
    }

    /// Removes a request that has ended in `lane`.
    func remove(_ id: RequestID, in lane: Lane) {
        let (entry, waiters) = contents.withLock { contents in
            (contents.entries.removeValue(forKey: id), contents.takeWaiters())
        }
        if entry?.presentation.contains(.indicator) == true {
            // A request that replaces this one counts first.
            lane.afterSuccessor { self.activity.end(self) }
        }
        for waiter in waiters { waiter() }
    }

    /// The requests that `selection` matches, in the order in which they began; `url` is the URL that the selection
    /// names.
    func entries(_ selection: RequestSelection, url: URL?) -> [Entry] {
        let entries = contents.withLock { contents in
            switch selection {
            case .all: Array(contents.entries.values)
            case .id(let id): contents.entries[id].map { [$0] } ?? []
            case .tag(let tag): contents.entries.values.filter { $0.tags.contains(tag) }
            case .url:
                url.map { url in contents.entries.values.filter { $0.request.url.hasSamePlace(as: url) } }
                    ?? []
            }
        }
        return entries.sorted { $0.request.id.rawValue < $1.request.id.rawValue }
    }
}

extension URL {
    /// Whether both URLs are equal up to the query.
    fileprivate func hasSamePlace(as other: URL) -> Bool { place == other.place }

    private var place: Substring { absoluteString.prefix { $0 != "?" && $0 != "#" } }
}
