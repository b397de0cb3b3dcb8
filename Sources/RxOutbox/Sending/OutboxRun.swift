#if Outbox
import FoundationEssentials
import HTTPTypes
import RxClient
import RxHTTP
import RxLite
import Synchronization

/// The loop of an ``Outbox``: performs what the ``DeliveryPlan`` decides, with the store and the client.
final class OutboxRun: @unchecked Sendable {
    // Unchecked: the variables are accessed only from inside the scope's lane, which is serial. Debug builds check that.

    let store: any OutboxStore
    let client: Client
    let endpointTypes: EndpointTypes
    let configuration: OutboxConfiguration
    let state = MutableProperty(OutboxState()).inspected("outbox")
    let events = Signal<OutboxEvent>().inspected("outbox events")
    let scope: Scope

    let clock: any Scheduler
    private let steady = Mutex(SteadyDate())
    let subscriptions = SubscriptionBag()
    var plan: DeliveryPlan
    var lease: OutboxLease?
    /// The revision of the store that the plan knows; `nil` before it has been loaded.
    var revision: Int64?
    /// Whether the entries have been loaded since the lease was taken. What a former sender has done is not known before.
    var hasLoadedUnderLease = false
    /// Whether the session has loaded its credential, so that it is known whose entries may be sent.
    var isAccountKnown = false
    /// The number of loads that have begun and not ended.
    private(set) var runningLoads = 0
    /// The entries that somebody has begun to watch while entries were being loaded.
    var lateWatched: Set<OutboxID> = []
    /// The sequence number up to which the plan of a sender has all entries.
    private var knownSequence: Int64 = 0
    /// Whether the plan lacks an entry of this outbox, since it may lack entries of others before it. Loading ends that.
    private(set) var isBehind = false
    var watchers = OutboxWatchers()
    var transfers: [OutboxID: (subscription: Subscription, arrivals: ArrivalGuard)] = [:]
    /// Changes that the store has refused, to be repeated.
    var unsaved: [@Sendable () -> Void] = []
    /// The number of entries that are being added, for which a drain waits: each way out of adding lowers it
    /// once.
    var addingCount = 0
    /// The number of deliveries in this run, after each so many of which old receipts are removed.
    var receiptCount = 0
    private var storeDelay = OutboxRun.storeDelays.lowerBound
    private var isTakingLease = false
    private var isStoreTimerSet = false
    var isDraining = false
    /// Whether the end has come. The scope stays open after it, so a reply of the store looks here before it
    /// begins anything.
    var isStopped = false
    /// The number of changes that are still to be stored at the end.
    var savingCount = 0
    var drainReports: [@Sendable (Int) -> Void] = []
    /// The scope of the timers, closed at the end. The scope itself stays open for the last saves and replies.
    lazy var timerScope = scope.child()
    lazy var wakeTimer = OperatorTimer(clock, in: timerScope)
    private lazy var pollTimer = OperatorTimer(clock, in: timerScope)
    private lazy var storeTimer = OperatorTimer(clock, in: timerScope)
    lazy var drainTimer = OperatorTimer(clock, in: timerScope)

    private static let storeDelays = Duration.seconds(1)...Duration.seconds(60)
    /// The longest sleep, since a virtual or a changed clock may be far from what was expected.
    static let longestSleep = Duration.seconds(24 * 3600)

    init(
        store: any OutboxStore, client: Client, endpointTypes: EndpointTypes,
        _ configuration: OutboxConfiguration
    ) {
        self.store = store
        self.client = client
        self.endpointTypes = endpointTypes
        self.configuration = configuration
        clock = client.transport.scheduler
        scope = Scope(lane: Lane(scheduler: clock))
        plan = DeliveryPlan(schedule: configuration.schedule, concurrency: configuration.concurrency)
    }

    /// The current date, which never goes back.
    var currentDate: Date {
        let system = configuration.currentDate?() ?? clock.currentDate
        return steady.withLock { $0.date(system: system, at: clock.now) }
    }

    func start() {
        scope.enter {
            self.watchSurroundings()
            self.takeLease()
            self.setPollTimer()
        }
    }

    // MARK: - The surroundings

    private func watchSurroundings() {
        if let reachability = client.configuration.reachability {
            reachability.statuses.subscribe { status in
                self.scope.enter { self.setOnline(status.isReachable) }
            }
            .store(in: subscriptions)
        }
        guard let session = client.configuration.session else { return isAccountKnown = true }
        session.events.subscribe { event in
            guard case .loggedIn = event else { return }
            self.scope.enter { self.wake { $0.mayEnd(by: .login) } }
        }
        .store(in: subscriptions)
        session.restore().subscribe {
            self.scope.enter {
                self.isAccountKnown = true
                self.advance()
            }
        }
        .store(in: subscriptions)
    }

    private func setOnline(_ isOnline: Bool) {
        guard state.value.isOnline != isOnline else { return }
        state.update { $0.isOnline = isOnline }
        // What a server has said about the time still holds.
        if isOnline { wake { $0.mayEnd(by: .network) } } else { advance() }
    }

    private func wake(where condition: (WaitReason) -> Bool) {
        plan.wake(at: currentDate, where: condition)
        advance()
    }

    var account: String? { client.configuration.session?.credential?.account }

    // MARK: - The store

    /// Runs an operation of the store, or of files, to its end, and reports its one value in the lane. An operation
    /// that ends without a value would never be reported.
    func perform<Value: Sendable>(
        _ work: Observable<Value, NetworkError>,
        _ report: @escaping @Sendable (Result<Value, NetworkError>) -> Void
    ) {
        _ = work.observe(
            onNext: { value in self.scope.enter { report(.success(value)) } },
            onEnd: { completion in
                guard case .failed(let error) = completion else { return }
                self.scope.enter { report(.failure(error)) }
            })
    }

    private func takeLease() {
        guard !isStopped, !isTakingLease else { return }
        let held = lease
        isTakingLease = true
        perform(store.lease(renewing: held, at: currentDate)) { result in
            self.isTakingLease = false
            guard !self.isStopped else {
                if case .success(let lease?) = result { self.perform(self.store.release(lease)) { _ in } }
                return
            }
            switch result {
            case .success(let lease?):
                if self.lease?.number != lease.number { self.hasLoadedUnderLease = false }
                self.lease = lease
                // A store that could not be read, or a lease that has just been taken.
                if held == nil || !self.hasLoadedUnderLease && self.runningLoads == 0 { self.load() }
            case .success(nil):
                if held != nil { self.loseLease() } else if self.revision == nil { self.load() }
            case .failure(let error): self.storeFails(error)
            }
        }
    }

    func loseLease() {
        guard lease != nil else { return }
        lease = nil
        hasLoadedUnderLease = false
        cancelTransfers()
        unsaved = []
        plan = DeliveryPlan(schedule: configuration.schedule, concurrency: configuration.concurrency)
        load()
        setPollTimer()
    }

    func cancelTransfers() {
        let running = transfers.sorted { $0.key < $1.key }
        transfers = [:]
        for transfer in running { transfer.value.subscription.cancel() }
    }

    /// Takes an entry that this outbox has added into the plan. A sender that may not know all entries before it in its
    /// order loads first, so that the order is that of the store.
    func insert(_ entry: OutboxEntry) {
        guard lease != nil, revision != nil else { return plan.insert(entry) }
        let follows = !isBehind && entry.sequence <= knownSequence + 1
        if follows { knownSequence = max(knownSequence, entry.sequence) }
        guard entry.queueName != nil, !follows else { return plan.insert(entry) }
        // Loading that has begun since the entry was added finds it.
        guard !isBehind else { return }
        isBehind = true
        load()
    }

    func load() {
        runningLoads += 1
        let holder = lease?.number
        perform(store.load()) { result in
            self.runningLoads -= 1
            guard !self.isStopped else { return }
            switch result {
            case .success(let snapshot):
                if let lease = self.lease, lease.number == holder { self.hasLoadedUnderLease = true }
                self.apply(snapshot)
            case .failure(let error): self.storeFails(error)
            }
        }
    }

    private func apply(_ snapshot: OutboxSnapshot) {
        let isNew = revision == nil || state.value.role != .sender
        revision = snapshot.revision
        isBehind = false
        knownSequence = max(knownSequence, snapshot.entries.last?.sequence ?? 0)
        let latest = snapshot.entries.map(\.latestDate).max()
        if let latest { steady.withLock { $0.raise(to: latest, at: clock.now) } }
        let ids = Set(snapshot.entries.map(\.id))
        for id in plan.entries.keys.sorted() where !ids.contains(id) && !plan.isBusy(id) {
            plan.remove(id)
        }
        for entry in snapshot.entries where !plan.isBusy(entry.id) {
            let known = plan.entries[entry.id]
            plan.insert(entry)
            guard let placed = plan.entries[entry.id], placed.delivery != known?.delivery else { continue }
            publish(.entry(placed), of: entry.id)
        }
        if hasLoadedUnderLease, isNew { plan.wake(at: currentDate) { $0.mayEnd(by: .newSender) } }
        let late = lateWatched
        lateWatched = []
        for id in watchers.ids where plan.entries[id] == nil && !late.contains(id) {
            findReceipt(id, mayBeStored: false)
        }
        if late.contains(where: { plan.entries[$0] == nil }) { load() }
        // In this order, so that nobody takes a sender for one without entries.
        showCounts()
        if !isDraining, hasLoadedUnderLease || lease == nil {
            setRole(hasLoadedUnderLease ? .sender : .standby)
        }
        if hasLoadedUnderLease, isNew { removeReceipts() }
        storeWorks()
        advance()
    }

    private func setPollTimer() {
        guard !isStopped else { return }
        // Without others the lease is still needed.
        guard let interval = store.pollInterval ?? (lease == nil ? .seconds(1) : nil) else { return }
        pollTimer.set(after: interval) { self.poll() }
    }

    private func poll() {
        guard !isStopped else { return }
        // A store that has failed has its own timer.
        if state.value.storeFailure == nil {
            perform(store.revision()) { result in
                guard !self.isStopped else { return }
                switch result {
                case .success(let revision):
                    if let known = self.revision, known != revision { self.load() }
                case .failure(let error): self.storeFails(error)
                }
            }
            if lease == nil || lease?.expires != nil { takeLease() }
        }
        setPollTimer()
    }

    func storeFails(_ error: NetworkError) {
        guard !isStopped else { return }
        state.update { $0.storeFailure = OutboxFailure(error) }
        events.send(.storeFailed(error))
        if isDraining { finishDraining() }
        guard !isStoreTimerSet else { return }
        isStoreTimerSet = true
        storeTimer.set(after: storeDelay) {
            self.isStoreTimerSet = false
            self.storeDelay = min(self.storeDelay * 2, Self.storeDelays.upperBound)
            self.repeatStoring()
        }
    }

    private func storeWorks() {
        storeDelay = Self.storeDelays.lowerBound
        if state.value.storeFailure != nil { state.update { $0.storeFailure = nil } }
    }

    private func repeatStoring() {
        guard revision != nil else { return takeLease() }
        let unsaved = unsaved
        self.unsaved = []
        // Whether it works is seen by loading, which also shows what was stored.
        if unsaved.isEmpty || isBehind || !hasLoadedUnderLease { load() }
        for change in unsaved { change() }
    }

    /// Makes a change under the lease, however long that takes.
    func save(
        _ change: OutboxChange, _ report: @escaping @Sendable (OutboxChange.Outcome) -> Void
    ) {
        guard let lease else { return }
        perform(store.change(change, under: lease)) { result in
            switch result {
            case .success(.leaseLost): self.lose(lease)
            case .success(let outcome):
                self.count(outcome)
                self.storeWorks()
                report(outcome)
            case .failure(let error):
                // The next sender learns from the store, not from the one that has lost the lease.
                if self.lease?.number == lease.number { self.unsaved.append { self.save(change, report) } }
                self.storeFails(error)
            }
        }
    }

    /// The store has refused a change under a lease, which may have been followed by a newer one of this outbox.
    private func lose(_ lost: OutboxLease) {
        if lease?.number == lost.number { loseLease() }
    }

    /// Counts a change of this outbox, so that `poll()` does not take it for one of others and load. To be
    /// called for each change that the store has applied; an added entry is counted where it is added.
    func count(_ outcome: OutboxChange.Outcome) {
        if case .applied = outcome { revision = revision.map { $0 + 1 } }
    }

    // MARK: - The state

    func setRole(_ role: OutboxState.Role) {
        guard state.value.role != role else { return }
        state.update { $0.role = role }
        events.send(.role(role))
    }

    func showCounts() {
        if state.value.counts != plan.counts { state.update { $0.counts = plan.counts } }
    }
}
#endif
