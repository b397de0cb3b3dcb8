#if Outbox
import FoundationEssentials
import RxNetworking
import RxOutbox
import Synchronization

#if canImport(Glibc)
import Glibc
#elseif canImport(Darwin)
import Darwin
#endif

/// Tells where the program is, and ends the process as `kill -9` does at a planned point.
///
/// Prints `+PLACE` when work begins at a place, before it does, `-PLACE` when it has ended, and `armed PLACE` when the time
/// to the kill begins.
final class KillPlan: Sendable {
    /// The places at which a program may be.
    enum Place: String, Sendable {
        /// Before the store is open.
        case start
        /// The store is open, and whatever follows.
        case open
        /// Another process sends.
        case standby
        /// This process has taken over from another one, and does not send yet.
        case takeover
        /// An entry is being stored: within `enqueue`.
        case add
        /// The begin of an attempt is being stored.
        case begin
        /// A request is on its way, or its answer.
        case exchange
        /// The answer is here, and the outcome is being stored.
        case settle
    }

    private struct Plan {
        var place: Place
        /// The number of times that the place is still to be reached.
        var turnsLeft: Int
        /// Whether only a sender is killed.
        let asSender: Bool
        var isSender = false
        var isOpen = false
        var isStandby = false
        var exchanges: Set<OutboxID> = []
        var isTakingOver = false

        /// Whether reaching the place begins the time to the kill.
        mutating func reach(_ reached: Place) -> Bool {
            guard reached == place, turnsLeft > 0, isSender || !asSender else { return false }
            turnsLeft -= 1
            return turnsLeft == 0
        }
    }

    private let plan: Mutex<Plan>
    private let delay: UInt32

    /// - Parameters:
    ///   - place: where the time to the kill begins. A program that is first `standby` or `takeover` in vain is killed as at
    ///     `open`.
    ///   - turn: how often the place is reached before, from 1.
    ///   - asSender: whether places do not count before the process sends.
    ///   - delay: the time to the kill, in microseconds.
    init(_ place: Place, turn: Int, asSender: Bool, delay: UInt32) {
        plan = Mutex(Plan(place: place, turnsLeft: max(turn, 1), asSender: asSender))
        self.delay = delay
    }

    /// Work begins.
    func enter(_ place: Place) {
        say("+\(place.rawValue)")
        if plan.withLock({ $0.reach(place) }) { arm(place) }
    }

    /// Work has ended.
    func leave(_ place: Place) { say("-\(place.rawValue)") }

    // MARK: - News of the store

    /// The store has been read.
    func opened() {
        let isFirst = plan.withLock { plan in
            defer { plan.isOpen = true }
            return !plan.isOpen
        }
        if isFirst { enter(.open) }
    }

    /// The lease was asked for.
    func asked(isGranted: Bool) {
        let wasStandby = plan.withLock { plan in
            let wasStandby = plan.isStandby
            plan.isStandby = !isGranted
            plan.isSender = isGranted
            plan.isTakingOver = isGranted && wasStandby
            return wasStandby
        }
        guard isGranted else {
            if !wasStandby { enter(.standby) }
            return
        }
        if wasStandby {
            leave(.standby)
            enter(.takeover)
        }
        let isLate = plan.withLock { plan in
            if !wasStandby, plan.place == .standby || plan.place == .takeover { plan.place = .open }
            guard plan.asSender, plan.isOpen else { return false }
            return plan.reach(.open)
        }
        if isLate { arm(.open) }
    }

    /// A change is to be stored.
    func storing(_ change: OutboxChange) {
        let (ended, hasTakenOver) = plan.withLock { plan in
            defer { plan.isTakingOver = false }
            return (plan.exchanges.remove(change.id) != nil, plan.isTakingOver)
        }
        if hasTakenOver { leave(.takeover) }
        if case .begin = change { return enter(.begin) }
        if ended { leave(.exchange) }
        enter(.settle)
    }

    /// A change is stored, or has had no effect.
    func stored(_ change: OutboxChange, _ outcome: OutboxChange.Outcome) {
        guard case .begin(let id, _) = change else { return leave(.settle) }
        leave(.begin)
        guard case .applied = outcome else { return }
        plan.withLock { _ = $0.exchanges.insert(id) }
        enter(.exchange)
    }

    // MARK: - The end

    private func arm(_ place: Place) {
        say("armed \(place.rawValue)")
        guard delay > 0 else { return die() }
        #if canImport(Glibc)
        var thread = pthread_t()
        #else
        var thread: pthread_t?
        #endif
        // The time travels as the bits of the argument, which is never dereferenced.
        let code = unsafe pthread_create(
            &thread, nil,
            { argument in
                usleep(UInt32(UInt(bitPattern: argument)))
                kill(getpid(), SIGKILL)
                return nil
            }, UnsafeMutableRawPointer(bitPattern: UInt(delay)))
        guard code == 0 else { exit(3) }
    }

    private func die() {
        kill(getpid(), SIGKILL)
        // Until the signal has arrived.
        while true { pause() }
    }
}

/// Prints `sequence KEY NUMBER` for each entry that this process knows, before it can send it.
final class SequenceLog: Sendable {
    private let told = Mutex<Set<String>>([])

    func tell(_ entry: OutboxEntry, _ sequence: Int64) {
        guard let key = entry.guarantee.key, told.withLock({ $0.insert(key).inserted }) else { return }
        say("sequence \(key) \(sequence)")
    }
}

/// A store that tells a plan what happens in it, and prints the sequence numbers of its entries.
struct WatchedStore: OutboxStore {
    let base: SQLiteOutboxStore
    let plan: KillPlan?
    let log = SequenceLog()

    var pollInterval: Duration? { base.pollInterval }

    func add(_ entry: OutboxEntry, _ content: Data) -> Observable<OutboxAddition, NetworkError> {
        base.add(entry, content).handleEvents(
            onSubscribe: { plan?.enter(.add) },
            onNext: { addition in
                if case .added(let sequence, _) = addition { log.tell(entry, sequence) }
                plan?.leave(.add)
            })
    }

    func load() -> Observable<OutboxSnapshot, NetworkError> {
        base.load().handleEvents(onNext: { snapshot in
            for entry in snapshot.entries { log.tell(entry, entry.sequence) }
            plan?.opened()
        })
    }

    func content(of id: OutboxID) -> Observable<Data?, NetworkError> { base.content(of: id) }

    func change(
        _ change: OutboxChange, under lease: OutboxLease?
    ) -> Observable<OutboxChange.Outcome, NetworkError> {
        base.change(change, under: lease).handleEvents(
            onSubscribe: { plan?.storing(change) }, onNext: { plan?.stored(change, $0) })
    }

    func receipt(of id: OutboxID) -> Observable<OutboxReceipt?, NetworkError> { base.receipt(of: id) }

    func removeReceipts(before date: Date, keeping limit: Int) -> Observable<Void, NetworkError> {
        base.removeReceipts(before: date, keeping: limit)
    }

    func revision() -> Observable<Int64, NetworkError> { base.revision() }

    func lease(renewing held: OutboxLease?, at now: Date) -> Observable<OutboxLease?, NetworkError> {
        base.lease(renewing: held, at: now).handleEvents(onNext: { lease in
            if held == nil { plan?.asked(isGranted: lease != nil) }
        })
    }

    func release(_ lease: OutboxLease) -> Observable<Void, NetworkError> { base.release(lease) }

    func close() -> Observable<Void, NetworkError> { base.close() }
}
#endif
