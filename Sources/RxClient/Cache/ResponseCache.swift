public import FoundationEssentials
import HTTPTypes
public import RxCache
public import RxCookies
public import RxHTTP
public import RxLite
import Synchronization

/// Stores responses and reuses them, by the policy of each request.
///
/// ```swift
/// var configuration = ClientConfiguration(baseURL: "https://api.example.com/v1")
/// configuration.options.cachePolicy = .http
/// ```
///
/// Several clients can share a cache: it keeps accounts apart. Safe from any thread.
public final class ResponseCache: Sendable {
    /// The storage of the responses.
    public let store: any CacheStore
    let clock: SharedClock
    let inFlight = InFlightRequests()
    let history = CacheHistory()
    private let counters = Mutex(CacheStatistics())
    private let refreshing = Mutex<Set<CacheKey>>([])
    /// The removals that the store has failed to perform: lookups skip what they include, and repeat them.
    private let overdue = Mutex<Set<CacheSelection>>([])
    /// The most overdue removals; beyond that, everything is to be removed.
    private static let mostOverdue = 256
    private let subscriptions = SubscriptionBag()

    /// Creates a cache.
    ///
    /// - Parameters:
    ///   - store: the storage of the responses. Default: in memory, up to 32 MiB.
    ///   - currentDate: the current date, which determines the age of responses. Default: the virtual date of
    ///     the cache's first client, if it has one, otherwise the system date.
    public init(
        store: any CacheStore = MemoryCacheStore(),
        currentDate: (@Sendable () -> Date)? = nil
    ) {
        self.store = store
        clock = SharedClock(nil, currentDate)
        store.invalidations.subscribe { [history] selection in history.recordRemoval(of: selection) }
            .store(in: subscriptions)
    }

    func currentDate() -> Date { clock.date }

    /// The statistics of the cache so far, and its size.
    public var statistics: CacheStatistics {
        var statistics = counters.withLock { $0 }
        statistics.usage = store.usage
        return statistics
    }

    /// Removes responses. One value on completion: the number of removed responses.
    ///
    /// ```swift
    /// cache.remove(.tag("cart")).subscribe()
    /// ```
    ///
    /// Responses in flight are not stored, and later requests do not join theirs.
    public func remove(_ selection: CacheSelection) -> Observable<Int, NetworkError> {
        .deferred {
            self.history.recordRemoval(of: selection)
            return self.removed(selection)
        }
    }

    private func removed(_ selection: CacheSelection) -> Observable<Int, NetworkError> {
        store.remove(selection).handleEvents(onEnd: { completion in
            self.overdue.withLock { overdue in
                switch completion {
                case .finished where selection == .all: overdue = []
                case .finished: overdue.remove(selection)
                case .failed where overdue.count >= Self.mostOverdue: overdue = [.all]
                case .failed: overdue.insert(selection)
                }
            }
        })
    }

    /// The removals that the store has failed to perform.
    var overdueRemovals: Set<CacheSelection> { overdue.withLock { $0 } }

    /// Repeats the removals that should have included these entries.
    func repeatRemovals(of entries: [CacheEntry]) {
        let selections = overdue.withLock { overdue in
            overdue.isEmpty
                ? [] : overdue.filter { selection in entries.contains { selection.includes($0.metadata) } }
        }
        for selection in selections { perform(removed(selection)) }
    }

    func count(_ event: (inout CacheStatistics) -> Void) { counters.withLock { event(&$0) } }

    /// Runs an operation of the store in the background.
    func perform(_ operation: Observable<some Sendable, NetworkError>) {
        operation.subscribe(onNext: { _ in }, onFailure: { _ in self.count { $0.storeFailures += 1 } })
    }

    /// Runs a request that refreshes the stored response of a key, unless such a request is already running.
    /// It has no subscriber; a later request reports its failure, if that persists.
    func refresh(_ key: CacheKey, by request: Observable<some Sendable, NetworkError>) {
        guard refreshing.withLock({ $0.insert(key).inserted }) else { return }
        request.finally { _ = self.refreshing.withLock { $0.remove(key) } }.subscribe(onFailure: { _ in })
    }
}

extension ResponseCache {
    /// The response to a request built by hand: a stored one, if the rules allow its use, or the response of `fetch`.
    ///
    /// ```swift
    /// cache.response(to: request) { request in client.exchange(request).response(to: request) }
    /// ```
    ///
    /// `fetch` receives the request with the conditions that revalidate a stored response, and may return any
    /// status; a 304 to these conditions becomes the stored response. The policy decides which responses are
    /// stored; with ``CachePolicy/http`` that can include an error status, as in RFC 9111. Equal requests in
    /// flight at the same time are fetched once, by the `fetch` of the first one. An unsafe request whose
    /// response has a status of 2xx or 3xx removes the stored responses of its URL (RFC 9111 §4.4).
    ///
    /// - Parameters:
    ///   - request: the request.
    ///   - policy: the responses that are stored. Default: those that RFC 9111 allows.
    ///   - mode: the use of the cache by this request. Default: according to the policy.
    ///   - identity: the requester, if the request does not identify it: responses of one requester are never
    ///     given to another. Default: empty.
    ///   - tags: the tags by which the response can be removed.
    ///   - jar: the jar that `fetch` takes the request's cookies from, for responses that vary by them.
    ///   - joins: whether the request joins an equal request in flight. Default true.
    ///   - decoder: the decoder of the response's JSON.
    ///   - fetch: sends a request.
    public func response(
        to request: Request, policy: CachePolicy = .http, mode: CacheMode = .standard, identity: String = "",
        tags: Set<String> = [], cookies jar: CookieJar? = nil, joins: Bool = true,
        decoder: JSONDecoder = JSONDecoder(),
        fetching fetch: @escaping @Sendable (Request) -> Observable<Response, NetworkError>
    ) -> Observable<Response, NetworkError> {
        .deferred {
            let cached = CachedRequest(
                request, in: self, policy, mode, requester: CacheRequester(name: identity, jar: jar),
                tags: tags,
                decoder: decoder)
            guard let cached else { return fetch(request).changing(self, by: request) }
            if let hit = cached.hit() { return .just(hit) }
            let ask: @Sendable (CacheEntry?) -> Observable<Response, NetworkError> = { entry in
                cached.revalidate(entry) { prepare in
                    var request = request
                    prepare(&request)
                    cached.recordFields(of: &request)
                    return fetch(request)
                }
            }
            return cached.respond(joining: joins ? .byHand : nil, asking: ask) { entry in
                ask(entry).stored(in: cached)
            }
            .map { response in
                // Here and in `catch`, as the stage `StaleIfError` does for clients; change both.
                guard response.status.isServerFailure, !response.isFromCache else { return response }
                return cached.fallback.map { cached.response(from: $0, .stale, at: self.currentDate()) }
                    ?? response
            }
            .catch { error in
                guard error.isServerFailure, let stored = cached.fallingBack(nil) else { return .fail(error) }
                return stored
            }
            .stored(in: cached)
        }
    }
}

extension ResponseCache {
    /// Writes a response to the store, unless something has changed since `start`.
    func store(_ entry: CacheEntry, since start: CacheHistory.Moment) {
        let id = entry.metadata.id
        guard history.beginStoring(entry.metadata, since: start) else { return }
        count { $0.stored += 1 }
        perform(
            store.store(entry).finally {
                // Something has changed during the write.
                guard self.history.endStoring(id) else { return }
                self.perform(self.store.remove(.id(id)))
            })
    }
}

extension ResponseCache: RedactedDescription {
    /// The amount of stored data.
    public var description: String {
        "cache of \(store.usage.entries) entries, \(store.usage.bytes) bytes"
    }
}
