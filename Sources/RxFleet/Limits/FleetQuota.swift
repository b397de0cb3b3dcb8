#if Fleet
import FoundationEssentials
public import RxClient
package import RxHTTP
public import RxLite
import Synchronization

/// The request rate of a fleet: permits from a budget in a store that all processes share.
///
/// ```swift
/// let quota = FleetQuota(in: store)
/// configuration.hostLimits = RequestLimits(rate: .perSecond(100, burst: 20))
///     .shared(through: quota, scope: "vendor key")
/// ```
///
/// Permits are reserved ahead, in the order in which processes ask, and the reply says when they become usable. So a
/// process asks once per batch and never polls. All processes must give a scope the same rate. Thread-safe.
public final class FleetQuota: Sendable {
    private let store: any SharedStore
    private let clock: any Scheduler
    private let timeLimit: Duration
    private let members: @Sendable () -> Int
    private let signal = Signal<FleetEvent>()
    /// Marks the messages of this process, which ``closures`` drops.
    private let writer = RandomSource.number()

    private struct Contents {
        /// The scopes that no other process had closed when this one asked for the first time. Messages tell of later
        /// closures.
        var checked: Set<String> = []
        var isDegraded = false
    }

    private let contents = Mutex(Contents())
    // This name, that of ``closure(of:)`` and that of the budget are the same for all releases.
    private static let channel = "limits"
    private static let maxScopes = 1024

    /// Creates a quota.
    ///
    /// - Parameters:
    ///   - store: the store that the processes share.
    ///   - timeLimit: how long the store may take to reply before this process takes its share of the rate. Default 1 s.
    ///   - clock: the clock of that limit. Default: the library's shared clock.
    ///   - memberCount: the number of processes, as last known. Default 1.
    public init(
        in store: any SharedStore, timeLimit: Duration = .seconds(1), clock: (any Scheduler)? = nil,
        memberCount: @escaping @Sendable () -> Int = { 1 }
    ) {
        self.store = store
        self.timeLimit = timeLimit
        self.clock = clock ?? ActorScheduler.shared
        members = memberCount
    }

    /// The number of processes that share the quota, as last known.
    public var memberCount: Int { max(1, members()) }

    /// The closures of scopes, and when the store is lost and found again, from the time of subscription.
    public var events: Observable<FleetEvent, Never> { signal.observable }

    /// Reserves permits in the store.
    package func reserve(
        _ count: Int, in scope: String, at rate: RequestRate
    ) -> Observable<RequestLimits.Permits, NetworkError> {
        let limit = NetworkError(.idleTimeout, "the store has not replied within \(timeLimit)")
        return isClosed(scope).flatMap(.concat) {
            [self] isClosed -> Observable<RequestLimits.Permits, NetworkError> in
            // Whoever has closed the scope will not tell again.
            guard !isClosed else { return .just(RequestLimits.Permits(count: 0, wait: .seconds(1))) }
            let reservation = Reservation(count, at: rate)
            return store.take(reservation.count, from: "limit:" + scope, reservation.budget)
                .map { reply in reservation.batch(reply) }
        }
        .timeout(timeLimit, on: clock) { limit }
        .handleEvents(
            onNext: { [weak self] _ in self?.reportHealth(nil) },
            onEnd: { [weak self] completion in
                if case .failed(let error) = completion { self?.reportHealth(error) }
            })
    }

    /// Whether another process had closed the scope before this one asked for the first time.
    private func isClosed(_ scope: String) -> Observable<Bool, NetworkError> {
        guard !contents.withLock({ $0.checked.contains(scope) }) else { return .just(false) }
        return store.read(Self.closure(of: scope)).map { [self] entry in
            guard entry == nil else { return true }
            contents.withLock { contents in
                if contents.checked.count >= Self.maxScopes { contents.checked = [] }
                contents.checked.insert(scope)
            }
            return false
        }
    }

    /// Sends `degraded` or `recovered` when the store's state has changed; `nil` means that it replied.
    private func reportHealth(_ error: NetworkError?) {
        let isNews = contents.withLock { contents in
            defer { contents.isDegraded = error != nil }
            return contents.isDegraded != (error != nil)
        }
        if isNews { signal.send(error.map { .degraded($0) } ?? .recovered) }
    }

    // MARK: - Closures

    /// JSON by the names of the properties, which processes of other releases read.
    private struct Message: Codable {
        var writer: UInt64
        var scope: String
        var milliseconds: Int64
    }

    private static func closure(of scope: String) -> String { "limit:" + scope + ":closed" }

    /// Tells all processes, also those that start later, that the server allows no requests for a while.
    package func close(_ scope: String, for duration: Duration) {
        // At most a day: receivers drop a message with more.
        let milliseconds = Int64(min(max(duration / .milliseconds(1), 1), 86_400_000).rounded(.up))
        signal.send(.limit(scope: scope, closedFor: duration))
        let message = Message(writer: writer, scope: scope, milliseconds: milliseconds)
        guard let data = try? JSONEncoder().encode(message) else { return }
        // The entry first: who receives the message, or asks for the first time after it, finds the scope closed.
        let entry = store.swap(
            Self.closure(of: scope), to: [1], expecting: .any, under: nil, for: .milliseconds(milliseconds)
        ).map { _ in }.catch { [weak self] error -> Observable<Void, NetworkError> in
            self?.reportHealth(error)
            return .just(())
        }
        Observable.concat([
            entry.ignoreElements(as: Void.self), store.publish(Array(data), to: Self.channel),
        ])
        .subscribe(onFailure: { [weak self] error in self?.reportHealth(error) })
    }

    /// The closures by other processes. A message that is not one is dropped.
    package var closures: Observable<RequestLimits.Closure, Never> {
        // The bounds are those of `close`.
        store.messages(of: Self.channel).compactMap { [writer, signal] message in
            guard case .message(let bytes) = message,
                let sent = try? JSONDecoder().decode(Message.self, from: Data(bytes)), sent.writer != writer,
                (1...86_400_000).contains(sent.milliseconds)
            else { return nil }
            let closure = RequestLimits.Closure(scope: sent.scope, duration: .milliseconds(sent.milliseconds))
            signal.send(.limit(scope: closure.scope, closedFor: closure.duration))
            return closure
        }
    }
}

extension FleetQuota: SharedQuota {}

extension RequestLimits {
    /// The limits with a rate that is that of all processes of a fleet. Without a ``rate`` it has no effect; ``concurrency``
    /// is not shared.
    ///
    /// - Parameters:
    ///   - quota: the quota of the fleet.
    ///   - scope: the name of the quota, such as an API key's; requests to all hosts with these limits count together.
    ///     Default `nil`: each host has its own.
    public func shared(through quota: FleetQuota, scope: String? = nil) -> RequestLimits {
        sharing(quota, scope: scope)
    }
}

/// The reservation of permits from a budget that may be overdrawn: how far tells when the permits may be used.
///
/// The budget in the store has the burst of the rate, and a horizon beyond it. What is used of the horizon is the time until
/// the last permit is due, by the generic cell rate algorithm (ITU-T I.371).
struct Reservation: Sendable, Equatable {
    /// How far ahead permits are reserved at most. The capacity of the budget includes it, which all processes must
    /// give alike (``SharedStore/take(_:from:_:)``), also those of other releases.
    static let horizon = Duration.seconds(30)
    private static let maxTokens = 1 << 30

    let count: Int
    let budget: SharedBudget
    /// The burst of the rate, without the horizon.
    private let burst: Int

    init(_ count: Int, at rate: RequestRate) {
        let perSecond = rate.perSecond.isFinite ? min(max(rate.perSecond, 1 / 86400), 1e6) : 1e6
        // Half of ``CellRate/longestRefill``, so that the horizon has room in the store's budget.
        let refill = Int(min(perSecond * CellRate.longestRefill / 2, Double(Self.maxTokens)))
        burst = min(max(1, rate.burst), max(1, refill))
        let ahead = Int((perSecond * (Self.horizon / .seconds(1))).rounded(.up))
        budget = SharedBudget(perSecond: perSecond, burst: burst + max(1, ahead))
        self.count = min(max(1, count), max(1, ahead))
    }

    /// The permits, by the reply of the store.
    func batch(_ reply: BudgetReply) -> RequestLimits.Permits {
        guard !reply.isLimited else {
            return RequestLimits.Permits(count: 0, wait: min(max(reply.retryAfter, .zero), Self.horizon))
        }
        let gap = Duration.seconds(1 / budget.perSecond)
        let used = min(max(reply.resetAfter, .zero), gap * (budget.burst + 1))
        // When the last permit is due; below zero if the budget would have allowed more.
        let last = used - gap * burst
        let first = last - gap * (count - 1)
        guard first < .zero else { return RequestLimits.Permits(count: count, wait: first, gap: gap) }
        // Permits that are due in the past may be used now, together.
        let late = last <= .zero ? 0 : Int((last / gap).rounded(.up))
        let together = max(1, count - late)
        return RequestLimits.Permits(count: count, wait: .zero, gap: gap, burst: together - 1)
    }
}
#endif
