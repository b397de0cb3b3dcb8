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
    /// cancellation is not a failure, and the refusal of a login is one, however many requests waited for it. Never
    /// ends.
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
        let requests = running.requests(selection, url: target)
        for request in requests { request.cancel() }
        return requests.count
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
        // An outbox then knows that nothing has arrived.
        error.isUnsent = true
        return error
    }
}

// MARK: - The list

/// A request in the list of those that run: the base of ``CallRun``, which replaces the defaults.
class RunningRequest: AccompaniedRequest, @unchecked Sendable {
    // Unchecked: the links are read and written only under the lock of the list.

    var tags: Set<String> { [] }
    var presentation: Presentation { .hidden }
    /// The URL of the endpoint, if the request is sent to another one, as that of a page may be.
    var endpointURL: URL? { nil }

    /// Ends the request with `cancelled`. Safe from any thread.
    func cancel() {}

    // The neighbours in the list. The list holds the request that began last, and each request holds the one that began
    // before it. Guard of `later`: it is in the list, and therefore alive, as long as this one refers to it.
    @safe @exclusivity(unchecked) fileprivate final var earlier: RunningRequest?
    @safe @exclusivity(unchecked) fileprivate final unowned(unsafe) var later: RunningRequest?
    @safe @exclusivity(unchecked) fileprivate final var isListed = false
}

/// The running requests of a client.
final class RunningRequests: Sendable {
    private struct Contents {
        /// The request that began last.
        var latest: RunningRequest?
        /// The number of running requests that were built by hand.
        var rawCount = 0
        /// Whether a shutdown does not wait for them any more; its limit has passed.
        var abandonsRaw = false
        /// Whether new requests are refused.
        var isClosed = false
        /// Called once no request is running.
        var waiters: [@Sendable () -> Void] = []

        /// The waiters to call outside the lock, if no request is running any more. To be asked after each
        /// removal.
        mutating func takeWaiters() -> [@Sendable () -> Void] {
            guard !waiters.isEmpty, latest == nil, rawCount == 0 || abandonsRaw else { return [] }
            defer { waiters = [] }
            return waiters
        }

        mutating func insert(_ request: RunningRequest) {
            request.earlier = latest
            latest?.later = request
            latest = request
            request.isListed = true
        }

        mutating func remove(_ request: RunningRequest) -> Bool {
            guard request.isListed else { return false }
            request.isListed = false
            request.earlier?.later = request.later
            if let later = request.later { later.earlier = request.earlier } else { latest = request.earlier }
            request.earlier = nil
            request.later = nil
            return true
        }
    }

    private let contents = Mutex(Contents())
    /// The requests that show the indicator.
    let activity = Activity()

    /// Adds a request; false if new requests are refused and `isExempt` is false. Otherwise one ``remove(_:in:)`` must
    /// follow, with the same ``RunningRequest/presentation``.
    func insert(_ request: RunningRequest, isExempt: () -> Bool) -> Bool {
        let isAdded = add(request, evenIfClosed: false) || isExempt() && add(request, evenIfClosed: true)
        if isAdded, request.presentation.contains(.indicator) { activity.begin(self) }
        return isAdded
    }

    private func add(_ request: RunningRequest, evenIfClosed: Bool) -> Bool {
        contents.withLock { contents in
            guard evenIfClosed || !contents.isClosed else { return false }
            contents.insert(request)
            return true
        }
    }

    /// Adds a request built by hand; false if new requests are refused. Otherwise one ``removeRaw()`` must
    /// follow.
    func insertRaw() -> Bool {
        contents.withLock { contents in
            if !contents.isClosed { contents.rawCount += 1 }
            return !contents.isClosed
        }
    }

    /// Once for each ``insertRaw()`` that returned true, or a shutdown waits up to its limit.
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
    func remove(_ request: RunningRequest, in lane: Lane) {
        let (isRemoved, waiters) = contents.withLock { contents in
            (contents.remove(request), contents.takeWaiters())
        }
        if isRemoved, request.presentation.contains(.indicator) {
            // A request that replaces this one counts first.
            lane.afterSuccessor { self.activity.end(self) }
        }
        for waiter in waiters { waiter() }
    }

    /// The requests that `selection` matches, in the order in which they began; `url` is the URL that the selection
    /// names.
    func requests(_ selection: RequestSelection, url: URL?) -> [RunningRequest] {
        let all = contents.withLock { contents in
            var all: [RunningRequest] = []
            var request = contents.latest
            while let next = request {
                all.append(next)
                request = next.earlier
            }
            return all
        }
        return all.reversed().filter { running in
            switch selection {
            case .all: true
            case .id(let id): running.request.id == id
            case .tag(let tag): running.tags.contains(tag)
            case .url: url.map { running.isRequest(to: $0) } ?? false
            }
        }
    }
}

extension RunningRequest {
    fileprivate func isRequest(to url: URL) -> Bool {
        request.url.equalsUpToQuery(url) || endpointURL?.equalsUpToQuery(url) == true
    }
}

extension URL {
    /// Whether both URLs are equal up to the query.
    fileprivate func equalsUpToQuery(_ other: URL) -> Bool { withoutQuery == other.withoutQuery }

    private var withoutQuery: Substring { absoluteString.prefix { $0 != "?" && $0 != "#" } }
}
