#if Fleet
import FoundationEssentials
import RxHTTP
import RxLite
import Synchronization

/// The presence of this process in a fleet: it counts its heartbeats in the store, and watches those of the others.
final class Membership: Sendable {
    private let store: any SharedStore
    private let clock: any Scheduler
    private let own: FleetMember
    private let lifetime: Duration
    private let parts: Int
    private let known: MutableProperty<[FleetMember]>
    private let beatOutcomes = Signal<NetworkError?>()

    private struct Contents {
        var watches: [MemberWatch]
        /// The members alive, by part.
        var alive: [[FleetMember]]
        /// The next of the other parts to read.
        var turn = 0
        var timer: (any Cancellable)?
        var hasEnded = false
    }

    private let contents: Mutex<Contents>

    init(
        of own: FleetMember, in store: any SharedStore, lifetime: Duration, parts: Int,
        on clock: any Scheduler
    ) {
        let parts = min(max(1, parts), 64)
        self.own = own
        self.store = store
        self.clock = clock
        self.lifetime = lifetime
        self.parts = parts
        known = MutableProperty([own]).inspected("fleet members") { members in
            "\(members.count): " + members.map { $0.name.isEmpty ? $0.id : $0.name }.joined(separator: ", ")
        }
        let watch = MemberWatch(lifetime: lifetime)
        contents = Mutex(
            Contents(
                watches: Array(repeating: watch, count: parts), alive: Array(repeating: [], count: parts)))
    }

    /// The members alive, this one included.
    var members: Property<[FleetMember]> { Property(known) }

    /// Each outcome of a heartbeat: `nil`, or the failure.
    var outcomes: Observable<NetworkError?, Never> { beatOutcomes.observable }

    /// Counts a heartbeat now, and then three to four in each lifetime: after pauses of a quarter to a third of it.
    func start() { beat() }

    /// Ends the heartbeats, and removes this process from the store. One value when done.
    func leave() -> Observable<Void, NetworkError> {
        .deferred { [self] in
            let timer = contents.withLock { contents in
                contents.hasEnded = true
                defer { contents.timer = nil }
                return contents.timer
            }
            timer?.cancel()
            let id = own.id
            return change(MemberTable.part(of: id, of: parts)) { $0.remove([id]) }
        }
    }

    private func beat() {
        let part = MemberTable.part(of: own.id, of: parts)
        let own = own
        // ``leave()`` may have removed the row since the heartbeat began.
        change(part) { [self] in if !hasEnded { $0.beat(own) } }
            .flatMap(.concat) { [self] _ in watchNext(after: part) }
            .asResult().ifEmpty(default: .success(()))
            .take(1)
            .subscribe { [weak self] result in
                guard let self else { return }
                if case .failure(let error) = result {
                    beatOutcomes.send(error)
                } else {
                    beatOutcomes.send(nil)
                }
                wait()
            }
    }

    private var hasEnded: Bool { contents.withLock { $0.hasEnded } }

    private func wait() {
        // Processes that start together do not stay together. Fleets.md states the mean pause of
        // the default lifetime.
        let jitter = Double(RandomSource.number() % 1000) / 1000
        let pause = lifetime / 4 + lifetime / 12 * jitter
        let timer = clock.schedule(after: pause) { [weak self] in self?.beat() }
        let isOver = contents.withLock { contents in
            if !contents.hasEnded { contents.timer = timer }
            return contents.hasEnded
        }
        if isOver { timer.cancel() }
    }

    /// Changes a part of the table, and removes the members that are gone.
    private func change(
        _ part: Int, repetitions: Int = 5, _ change: @escaping @Sendable (inout MemberTable) -> Void
    ) -> Observable<Void, NetworkError> {
        store.read(Self.key(part)).flatMap(.concat) { [self] entry -> Observable<Void, NetworkError> in
            var table = MemberTable(bytes: entry?.bytes)
            if table.epoch == 0 { table.epoch = max(1, RandomSource.number()) }
            change(&table)
            table.remove(see(table, in: part))
            let bytes: [UInt8]
            do throws(NetworkError) { bytes = try table.bytes() } catch { return .fail(error) }
            return store.swap(
                Self.key(part), to: bytes, expecting: entry.map { .exactly($0.version) } ?? .absent,
                under: nil,
                for: lifetime * 10
            ).flatMap(.concat) { [self] result -> Observable<Void, NetworkError> in
                if case .swapped = result { return .just(()) }
                guard repetitions > 0 else { return .just(()) }
                return self.change(part, repetitions: repetitions - 1, change)
            }
        }
    }

    /// Reads one of the other parts, in turn.
    private func watchNext(after own: Int) -> Observable<Void, NetworkError> {
        let part = contents.withLock { contents in
            contents.turn = (contents.turn + 1) % parts
            return contents.turn
        }
        guard part != own else { return .just(()) }
        return store.read(Self.key(part)).map { [self] entry in
            _ = see(MemberTable(bytes: entry?.bytes), in: part)
        }
    }

    private func see(_ table: MemberTable, in part: Int) -> Set<String> {
        let now = clock.now
        let (gone, all) = contents.withLock { contents in
            let (alive, gone) = contents.watches[part].see(table, at: now)
            contents.alive[part] = alive
            return (gone, contents.alive.joined().sorted { ($0.joined, $0.id) < ($1.joined, $1.id) })
        }
        if known.value != all { known.value = all.isEmpty ? [own] : all }
        return gone.subtracting([own.id])
    }

    /// The entry of a part, by the same name in all releases.
    private static func key(_ part: Int) -> String { "members:\(part)" }
}
#endif
