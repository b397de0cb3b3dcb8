#if Fleet
import FoundationEssentials
public import RxHTTP
public import RxLite

/// The processes that share a store: one login, one limit, one cache and one set of circuits for all of them.
///
/// ```swift
/// let fleet = Fleet(sharing: store, as: "worker 3")
/// let session = Session(sharing: fleet.credential("shop", sealing: keys), login: { logIn() })
/// configuration.session = session
/// configuration.hostLimits = RequestLimits(rate: .perSecond(100, burst: 20)).shared(through: fleet.quota)
/// configuration.circuitBreaker = CircuitBreaker.Policy().shared(through: fleet.circuits)
/// configuration.cache = ResponseCache(store: TieredCacheStore(over: fleet.cache(sealing: keys)))
/// fleet.join()
/// ```
///
/// Each part also works without a fleet, over the store alone. The inspector's page of streams shows the members and the
/// events. Thread-safe.
public final class Fleet: Sendable {
    /// The store.
    public let store: any SharedStore
    /// This process.
    public let member: FleetMember
    /// The request rates of the fleet.
    public let quota: FleetQuota
    /// The circuits of the fleet.
    public let circuits: FleetCircuits
    private let membership: Membership
    private let clock: any Scheduler
    private let signal = Signal<FleetEvent>().inspected("fleet events")
    /// The subscriptions to the events of the parts; they end with the fleet.
    private let subscriptions = SubscriptionBag()

    /// Creates a fleet of this process; ``join()`` tells the others.
    ///
    /// - Parameters:
    ///   - store: the store that the processes share.
    ///   - name: what this process is called among the members, such as its host and process id. Default: empty.
    ///   - lifetime: the time without a heartbeat after which a process counts as gone. Default 15 s.
    ///   - parts: the number of entries that the members are spread over. With more than a few hundred processes, give all of
    ///     them the same larger number, up to 64. Default 1.
    ///   - clock: the clock. Default: the library's shared clock.
    public init(
        sharing store: any SharedStore, as name: String = "", lifetime: Duration = .seconds(15),
        parts: Int = 1, clock: (any Scheduler)? = nil
    ) {
        let clock = clock ?? ActorScheduler.shared
        let member = FleetMember(
            id: RandomSource.uuid().uuidString, name: name, joined: clock.currentDate)
        let membership = Membership(of: member, in: store, lifetime: lifetime, parts: parts, on: clock)
        self.store = store
        self.clock = clock
        self.member = member
        self.membership = membership
        quota = FleetQuota(in: store, clock: clock) { membership.members.value.count }
        circuits = FleetCircuits(in: store, clock: clock)
        quota.events.subscribe { [signal] event in signal.send(event) }.store(in: subscriptions)
        circuits.events.subscribe { [signal] event in signal.send(event) }.store(in: subscriptions)
        // A first heartbeat that succeeds is no news.
        membership.outcomes.distinctUntilChanged(by: { ($0 == nil) == ($1 == nil) }).skip(while: { $0 == nil }
        )
        .subscribe { [signal] error in signal.send(error.map { .degraded($0) } ?? .recovered) }
        .store(in: subscriptions)
    }

    /// The processes of the fleet that are alive, in the order in which they joined; this one alone before ``join()``.
    public var members: Property<[FleetMember]> { membership.members }

    /// The events that this process observes in the fleet, from the time of subscription, as long as the fleet lives.
    public var events: Observable<FleetEvent, Never> { signal.observable }

    /// Begins to tell the others that this process is alive.
    public func join() { membership.start() }

    /// Tells the others that this process leaves. One value when done. A process that ends without it is gone after its
    /// lifetime.
    public func leave() -> Observable<Void, NetworkError> { membership.leave() }

    /// The credential of a login that the processes share.
    ///
    /// - Parameters:
    ///   - key: the name of the login, the same in all processes.
    ///   - keys: the keys that seal it in the store.
    ///   - leaseTime: how long a process that stops keeps the others from renewing. Default 10 s.
    public func credential(
        _ key: String, sealing keys: SealingKeys, leaseTime: Duration = .seconds(10)
    ) -> SharedCredential {
        let credential = SharedCredential(
            in: store, key: key, sealing: keys, leaseTime: leaseTime, clock: clock)
        credential.events.subscribe { [signal] event in signal.send(.login(event)) }.store(in: subscriptions)
        return credential
    }

    /// A store of responses that the processes share.
    ///
    /// - Parameters:
    ///   - keys: the keys from which those of accounts are derived. Default `nil`: responses of accounts are not stored.
    ///   - name: keeps several caches apart. Default `cache`.
    ///   - entryLimit: the most bytes of all variants of a response. Default 1 MiB.
    public func cache(
        sealing keys: SealingKeys? = nil, name: String = "cache", entryLimit: Int = 1 << 20
    ) -> SharedCacheStore {
        let cache = SharedCacheStore(
            in: store, sealing: keys, name: name, entryLimit: entryLimit, clock: clock)
        cache.events.subscribe { [signal] event in signal.send(event) }.store(in: subscriptions)
        return cache
    }
}
#endif
