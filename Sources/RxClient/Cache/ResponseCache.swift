public import FoundationEssentials
public import RxCache
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
    let flights = CacheFlights()
    let history = CacheHistory()
    private let counters = Mutex(CacheStatistics())
    private let refreshing = Mutex<Set<CacheKey>>([])
    private let overdue = Mutex<Set<CacheSelection>>([])
    /// The most overdue removals; beyond that, everything is to be removed.
    private static let mostOverdue = 256

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
            self.history.noteRemoval(of: selection)
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
