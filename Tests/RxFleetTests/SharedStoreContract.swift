#if Fleet
import FoundationEssentials
import RxClient
import RxFleet
import RxHTTP
import RxLite
import RxTesting
import Synchronization
import TestServers
import Testing

/// A store under the checks of ``SharedStoreContract``: how to connect to it, and how its time passes.
struct StoreSubject: Sendable {
    /// Makes another connection, as that of another process.
    var connect: @Sendable () async throws -> any SharedStore
    /// The store's time.
    var now: @Sendable () -> Duration
    /// Lets time pass, in which the connections keep their leases.
    var pass: @Sendable (Duration) async throws -> Void
    /// Waits until a condition holds. A store whose time is steered does this without letting time pass, or hardly any.
    var until: @Sendable (@escaping @Sendable () -> Bool) async throws -> Void
    /// Whether time stands still but for ``pass`` and a few milliseconds, so that a moment can be met exactly.
    var isExact = true
    /// Stops the process of a connection: it neither extends nor returns its leases. `nil` if that cannot be done.
    var stop: (@Sendable (any SharedStore) async throws -> Void)?
    /// Lets a stopped process run again.
    var resume: (@Sendable (any SharedStore) async throws -> Void)?
    /// Removes an entry, as the store itself may. `nil` if it never does.
    var evict: (@Sendable (String) async throws -> Void)?
    /// Closes the store and opens it again with its data; connections of before are not used any more.
    var restart: (@Sendable () async throws -> Void)?
}

extension StoreSubject {
    /// The result of a command.
    func value<Value: Sendable>(of command: Observable<Value, NetworkError>) async throws -> Value {
        let journal = Journal(command)
        try await until { journal.hasEnded }
        if let failure = journal.failure { throw failure }
        return try #require(journal.values.last)
    }

    /// The code of the error with which a command fails; `nil` if it succeeds.
    func code<Value: Sendable>(
        of command: Observable<Value, NetworkError>
    ) async throws -> NetworkError.Code? {
        let journal = Journal(command)
        try await until { journal.hasEnded }
        return journal.failure?.code
    }

    func swap(
        _ store: any SharedStore, _ key: String, _ text: String?, _ expected: ExpectedVersion = .any,
        under lease: SharedLease? = nil, for lifetime: Duration? = nil
    ) async throws -> SwapResult {
        try await value(
            of: store.swap(
                key, to: text.map { Array($0.utf8) }, expecting: expected, under: lease, for: lifetime))
    }

    /// The version that a swap has written.
    func write(
        _ store: any SharedStore, _ key: String, _ text: String?, _ expected: ExpectedVersion = .any
    ) async throws -> UInt64 {
        guard case .swapped(let version) = try await swap(store, key, text, expected) else {
            throw NetworkError(.superseded, "the swap of \(key) has not taken place")
        }
        return version
    }

    func text(_ store: any SharedStore, _ key: String) async throws -> String? {
        try await value(of: store.read(key)).map { String(decoding: $0.bytes, as: UTF8.self) }
    }

    /// Waits until the commands of a connection so far have been executed: each executes them in their order.
    ///
    /// By a write, since a read may be answered from memory.
    func settle(_ store: any SharedStore) async throws { _ = try await swap(store, "settled", "") }

    /// A lease that is granted.
    func granted(
        _ store: any SharedStore, _ name: String, for time: Duration = .seconds(3)
    ) async throws -> (journal: Journal<SharedLease, NetworkError>, lease: SharedLease) {
        let journal = Journal(store.lease(name, for: time))
        try await until { !journal.values.isEmpty || journal.hasEnded }
        return (journal, try #require(journal.values.first, "\(String(describing: journal.failure))"))
    }
}

/// Counts the events of all journals, so that tests can wait for the next one.
enum Journals {
    static let board = Board(0)

    /// Waits until a condition on journals holds, without letting a clock pass.
    static func until(_ isMet: @escaping @Sendable () -> Bool) async throws {
        try await board.until { _ in isMet() ? () : nil }
    }
}

/// The events of a stream, which may come from any thread.
final class Journal<Element: Sendable, Failure: Error>: Sendable {
    private struct Contents {
        var values: [Element] = []
        var failure: Failure?
        var hasEnded = false
    }

    private let contents: Kept<Contents>
    private let subscription: Subscription

    init(_ stream: Observable<Element, Failure>) {
        let contents = Kept(Contents())
        self.contents = contents
        subscription = stream.subscribe { value in
            contents { $0.values.append(value) }
            Journals.board.update { $0 += 1 }
        } onEnd: { end in
            contents {
                if case .failed(let error) = end { $0.failure = error }
                $0.hasEnded = true
            }
            Journals.board.update { $0 += 1 }
        }
    }

    var values: [Element] { contents { $0.values } }
    var failure: Failure? { contents { $0.failure } }
    var hasEnded: Bool { contents { $0.hasEnded } }

    func cancel() { subscription.cancel() }

    private final class Kept<Value: Sendable>: Sendable {
        private let value: Mutex<Value>

        init(_ value: Value) { self.value = Mutex(value) }

        @discardableResult func callAsFunction<Result: Sendable>(_ body: (inout Value) -> Result) -> Result {
            value.withLock { value in body(&value) }
        }
    }
}

/// The rules of every ``SharedStore``. Each store runs all checks, in the time that it has.
enum SharedStoreContract: String, CaseIterable, Sendable {
    case versions, swaps, races, lifetimes, exclusion, order, lapses, fences, restart, budgets, rates,
        impossibleBudgets,
        messages, sizes

    func check(_ subject: StoreSubject) async throws {
        switch self {
        case .versions: try await Self.versions(subject)
        case .swaps: try await Self.swaps(subject)
        case .races: try await Self.races(subject)
        case .lifetimes: try await Self.lifetimes(subject)
        case .exclusion: try await Self.exclusion(subject)
        case .order: try await Self.order(subject)
        case .lapses: try await Self.lapses(subject)
        case .fences: try await Self.fences(subject)
        case .restart: try await Self.restart(subject)
        case .budgets: try await Self.budgets(subject)
        case .rates: try await Self.rates(subject)
        case .impossibleBudgets: try await Self.impossibleBudgets(subject)
        case .messages: try await Self.messages(subject)
        case .sizes: try await Self.sizes(subject)
        }
    }

    // MARK: - Entries

    /// Versions grow with each write, over removals, lifetimes and evictions.
    private static func versions(_ subject: StoreSubject) async throws {
        let store = try await subject.connect()
        let other = try await subject.connect()
        var versions = [try await subject.write(store, "a", "1", .absent)]
        #expect(versions[0] > 0)
        #expect(try await subject.value(of: other.read("a"))?.version == versions[0])
        versions.append(try await subject.write(other, "a", "2", .exactly(versions[0])))
        #expect(try await subject.write(store, "a", nil) == 0)
        #expect(try await subject.value(of: store.read("a")) == nil)
        versions.append(try await subject.write(store, "a", "3", .absent))
        #expect(try await subject.swap(store, "a", nil, .exactly(versions[2])) == .swapped(version: 0))
        versions.append(try await subject.write(other, "a", "4", .absent))
        #expect(
            try await subject.swap(store, "a", "x", .exactly(versions[1])) == .conflict, "of a removed entry")
        if let evict = subject.evict {
            try await evict("a")
            #expect(try await subject.text(store, "a") == nil)
            versions.append(try await subject.write(store, "a", "5", .absent))
        }
        _ = try await subject.swap(store, "a", "6", for: .milliseconds(200))
        try await subject.pass(.milliseconds(250))
        #expect(try await subject.text(store, "a") == nil)
        versions.append(try await subject.write(store, "a", "7", .absent))
        for (former, next) in zip(versions, versions.dropFirst()) { #expect(former < next, "\(versions)") }
    }

    /// An entry is replaced only if it has the expected version.
    private static func swaps(_ subject: StoreSubject) async throws {
        let store = try await subject.connect()
        #expect(try await subject.swap(store, "a", "x", .exactly(1)) == .conflict)
        #expect(try await subject.swap(store, "a", nil, .exactly(0)) == .conflict)
        #expect(try await subject.swap(store, "a", nil, .absent) == .swapped(version: 0))
        let first = try await subject.write(store, "a", "1", .absent)
        #expect(try await subject.swap(store, "a", "x", .absent) == .conflict)
        #expect(try await subject.swap(store, "a", "x", .exactly(first + 1)) == .conflict)
        #expect(try await subject.swap(store, "a", nil, .exactly(first + 1)) == .conflict)
        #expect(try await subject.swap(store, "a", "x", .exactly(.max)) == .conflict)
        #expect(try await subject.text(store, "a") == "1")
        _ = try await subject.write(store, "a", "2", .any)
        #expect(try await subject.text(store, "a") == "2")
        // Empty content is content, any byte is kept, and keys are told apart by all of their bytes.
        let second = try await subject.write(store, "b", "", .absent)
        #expect(try await subject.value(of: store.read("b")) == SharedEntry(bytes: [], version: second))
        let bytes = (0...255).map { UInt8($0) }
        _ = try await subject.value(
            of: store.swap("a:b'\"%\\ \u{0}é", to: bytes, expecting: .absent, under: nil, for: nil))
        #expect(try await subject.value(of: store.read("a:b'\"%\\ \u{0}é"))?.bytes == bytes)
        #expect(try await subject.value(of: store.read("a:b'\"%\\ \u{0}")) == nil)
        #expect(try await subject.value(of: store.read("a:b'\"%\\ ")) == nil)
    }

    /// Of two swaps at once that expect the same version, one takes place; and no count is lost.
    private static func races(_ subject: StoreSubject) async throws {
        let stores = [try await subject.connect(), try await subject.connect(), try await subject.connect()]
        for round in 0..<10 {
            let version = try await subject.write(stores[0], "a", "\(round)")
            let attempts = stores.map { store in
                Journal(store.swap("a", to: [1], expecting: .exactly(version), under: nil, for: nil))
            }
            try await subject.until { attempts.allSatisfy { $0.hasEnded } }
            #expect(attempts.flatMap(\.values).count { $0 != .conflict } == 1)
        }
        let counts = stores.map { store in Journal(increments(store, 15)) }
        try await subject.until { counts.allSatisfy { $0.hasEnded } }
        for count in counts { #expect(count.failure == nil, "\(String(describing: count.failure))") }
        #expect(try await subject.text(stores[0], "count") == "45")
    }

    private static func increments(_ store: any SharedStore, _ count: Int) -> Observable<Void, NetworkError> {
        guard count > 0 else { return .just(()) }
        return store.read("count").flatMap(.concat) { entry -> Observable<SwapResult, NetworkError> in
            let number = entry.flatMap { Int(String(decoding: $0.bytes, as: UTF8.self)) } ?? 0
            return store.swap(
                "count", to: Array("\(number + 1)".utf8),
                expecting: entry.map { .exactly($0.version) } ?? .absent, under: nil, for: nil)
        }
        .flatMap(.concat) { (result: SwapResult) in increments(store, result == .conflict ? count : count - 1)
        }
    }

    /// An entry is gone after its lifetime, and the next write may have another one.
    private static func lifetimes(_ subject: StoreSubject) async throws {
        let store = try await subject.connect()
        _ = try await subject.swap(store, "a", "1", for: .seconds(1))
        if subject.isExact {
            try await subject.pass(.milliseconds(900))
            #expect(try await subject.text(store, "a") == "1")
            #expect(try await subject.swap(store, "a", "x", .absent) == .conflict)
        }
        // As long as it is there, it can be replaced; the lifetime is that of the last write.
        _ = try await subject.swap(store, "a", "2", for: .seconds(1))
        _ = try await subject.swap(store, "kept", "3", for: .seconds(1))
        _ = try await subject.swap(store, "kept", "4")
        try await subject.pass(.milliseconds(1100))
        let other = try await subject.connect()
        #expect(try await subject.text(other, "a") == nil)
        #expect(try await subject.text(other, "kept") == "4")
        #expect(try await subject.swap(store, "a", "5", .absent) != .conflict)
        // A lifetime that cannot be represented is long.
        _ = try await subject.swap(store, "long", "6", for: .seconds(Int64.max))
        #expect(try await subject.text(other, "long") == "6")
    }

    // MARK: - Leases

    /// One has the lease while it is extended, and the next gets it by push when it is returned.
    private static func exclusion(_ subject: StoreSubject) async throws {
        let (one, two) = (try await subject.connect(), try await subject.connect())
        let first = try await subject.granted(one, "a", for: .seconds(2))
        let second = Journal(two.lease("a", for: .seconds(2)))
        try await subject.settle(two)
        // In the same process, too.
        let third = Journal(one.lease("a", for: .seconds(2)))
        let elsewhere = try await subject.granted(two, "b", for: .seconds(2))
        try await subject.pass(.seconds(5))
        #expect(second.values.isEmpty && third.values.isEmpty, "while it is extended")
        #expect(!first.journal.hasEnded && !second.hasEnded)
        let start = subject.now()
        first.journal.cancel()
        try await subject.until { !second.values.isEmpty }
        if subject.isExact { #expect(subject.now() - start < .milliseconds(100), "by push") }
        #expect(try #require(second.values.first).fence > first.lease.fence)
        #expect(third.values.isEmpty)
        second.cancel()
        try await subject.until { !third.values.isEmpty }
        #expect(third.values[0].name == "a")
        for journal in [third, elsewhere.journal] { journal.cancel() }
    }

    /// Leases are granted in the order of the requests; one that is cancelled is passed over.
    private static func order(_ subject: StoreSubject) async throws {
        let stores = [try await subject.connect(), try await subject.connect(), try await subject.connect()]
        var held = try await subject.granted(stores[0], "a")
        var waiting: [Journal<SharedLease, NetworkError>] = []
        for number in 0..<7 {
            let store = stores[number % 3]
            waiting.append(Journal(store.lease("a", for: .seconds(3))))
            try await subject.settle(store)
        }
        waiting.remove(at: 3).cancel()
        while !waiting.isEmpty {
            let next = waiting.removeFirst()
            held.journal.cancel()
            try await subject.until { !next.values.isEmpty || next.hasEnded }
            let lease = try #require(next.values.first)
            #expect(lease.fence > held.lease.fence)
            #expect(waiting.allSatisfy { $0.values.isEmpty })
            held = (next, lease)
        }
        held.journal.cancel()
    }

    /// The lease of a process that is stopped ends after its time; when it wakes it can write nothing under it.
    private static func lapses(_ subject: StoreSubject) async throws {
        guard let stop = subject.stop, let resume = subject.resume else { return }
        let (one, two) = (try await subject.connect(), try await subject.connect())
        let first = try await subject.granted(one, "a", for: .seconds(2))
        let version = try await subject.write(two, "entry", "old")
        let second = Journal(two.lease("a", for: .seconds(2)))
        try await stop(one)
        if subject.isExact {
            try await subject.pass(.seconds(1))
            #expect(second.values.isEmpty)
        }
        try await subject.pass(.seconds(2))
        try await subject.until { !second.values.isEmpty || second.hasEnded }
        let lease = try #require(second.values.first)
        #expect(lease.fence > first.lease.fence)
        try await resume(one)
        #expect(
            try await subject.swap(one, "entry", "late", .exactly(version), under: first.lease) == .fenced)
        #expect(try await subject.text(two, "entry") == "old")
        guard case .swapped = try await subject.swap(two, "entry", "new", .exactly(version), under: lease)
        else {
            Issue.record("the holder is refused")
            return
        }
        try await subject.pass(.seconds(2))
        try await subject.until { first.journal.hasEnded }
        #expect(first.journal.failure?.code == .superseded)
        #expect(!second.hasEnded, "the other one keeps it")
        second.cancel()
    }

    /// A lease that has been followed by another can write nothing, even when all have ended; one without a successor can.
    private static func fences(_ subject: StoreSubject) async throws {
        let (one, two) = (try await subject.connect(), try await subject.connect())
        let first = try await subject.granted(one, "a")
        first.journal.cancel()
        guard case .swapped(let version) = try await subject.swap(one, "entry", "1", under: first.lease)
        else {
            Issue.record("nobody else had the lease")
            return
        }
        let other = try await subject.granted(two, "b")
        #expect(try await subject.swap(one, "entry", "2", .exactly(version), under: first.lease) != .fenced)
        let second = try await subject.granted(two, "a")
        second.journal.cancel()
        #expect(try await subject.swap(one, "entry", "3", under: first.lease) == .fenced)
        #expect(try await subject.swap(one, "entry", nil, under: first.lease) == .fenced)
        #expect(try await subject.swap(one, "new", "3", .absent, under: first.lease) == .fenced)
        #expect(try await subject.text(one, "entry") == "2")
        #expect(try await subject.value(of: one.read("new")) == nil)
        #expect(try await subject.swap(two, "entry", "4", under: second.lease) != .fenced)
        var last = second.lease.fence
        for store in [one, two, one] {
            let next = try await subject.granted(store, "a")
            next.journal.cancel()
            #expect(next.lease.fence > last)
            last = next.lease.fence
        }
        other.journal.cancel()
    }

    /// Entries, versions and fencing numbers outlive the connections.
    private static func restart(_ subject: StoreSubject) async throws {
        guard let restart = subject.restart else { return }
        var store = try await subject.connect()
        let granted = try await subject.granted(store, "a")
        let version = try await subject.write(store, "entry", "1")
        #expect(try await subject.write(store, "gone", "1") > 0)
        _ = try await subject.write(store, "gone", nil)
        let last = try await subject.write(store, "kept", "2")
        granted.journal.cancel()
        let next = try await subject.granted(store, "a")
        next.journal.cancel()
        try await restart()
        store = try await subject.connect()
        #expect(try await subject.value(of: store.read("entry"))?.version == version)
        #expect(try await subject.write(store, "gone", "3", .absent) > last)
        #expect(try await subject.swap(store, "entry", "2", under: granted.lease) == .fenced)
        let later = try await subject.granted(store, "a")
        #expect(later.lease.fence > next.lease.fence)
        later.journal.cancel()
    }

    // MARK: - Budgets

    /// A budget begins full; once it is empty, the reply says when the next permits are there.
    private static func budgets(_ subject: StoreSubject) async throws {
        let (one, two) = (try await subject.connect(), try await subject.connect())
        let budget = SharedBudget(perSecond: 2, burst: 4)
        let full = try await subject.value(of: one.take(0, from: "a", budget))
        #expect(
            full
                == BudgetReply(isLimited: false, limit: 4, remaining: 4, retryAfter: .zero, resetAfter: .zero)
        )
        let all = try await subject.value(of: two.take(4, from: "a", budget))
        #expect(!all.isLimited && all.remaining == 0 && all.retryAfter == .zero)
        #expect(all.resetAfter > .milliseconds(1800) && all.resetAfter <= .seconds(2))
        let refused = try await subject.value(of: one.take(3, from: "a", budget))
        #expect(refused.isLimited && refused.limit == 4)
        #expect(refused.retryAfter > .seconds(1) && refused.retryAfter <= .milliseconds(1500))
        #expect(refused.resetAfter <= .seconds(2))
        // Another budget is full.
        #expect(try await subject.value(of: one.take(4, from: "b", budget)).isLimited == false)
        if subject.isExact {
            try await subject.pass(refused.retryAfter - .milliseconds(20))
            #expect(try await subject.value(of: two.take(3, from: "a", budget)).isLimited)
            try await subject.pass(.milliseconds(20))
        } else {
            try await subject.pass(refused.retryAfter)
        }
        #expect(try await subject.value(of: two.take(3, from: "a", budget)).isLimited == false)
        try await subject.pass(.seconds(2))
        let again = try await subject.value(of: one.take(0, from: "a", budget))
        #expect(again.remaining == 4 && again.resetAfter == .zero)
    }

    /// In no period are more permits taken than the burst and what is added in that period.
    private static func rates(_ subject: StoreSubject) async throws {
        let stores = [try await subject.connect(), try await subject.connect()]
        let budget = SharedBudget(perSecond: 50, burst: 10)
        var random = SeededRandom(7)
        var taken: [(count: Int, after: Duration, before: Duration)] = []
        for turn in 0..<120 {
            let count = Int.random(in: 1...6, using: &random)
            let start = subject.now()
            let reply = try await subject.value(of: stores[turn % 2].take(count, from: "a", budget))
            if !reply.isLimited { taken.append((count, start, subject.now())) }
            if turn % 3 == 0 { try await subject.pass(.milliseconds(Int.random(in: 1...60, using: &random))) }
        }
        #expect(taken.count > 20)
        for first in taken.indices {
            var sum = 0
            for last in first..<taken.count {
                sum += taken[last].count
                // The permits were taken at some time within the command.
                let seconds = (taken[last].before - taken[first].after) / .seconds(1)
                #expect(Double(sum) <= 10 + 50 * seconds + 0.001, "\(first)...\(last)")
            }
        }
        // The rate is used, not only kept.
        let total = taken.reduce(0) { $0 + $1.count }
        let seconds = ((taken.last?.before ?? .zero) - (taken.first?.after ?? .zero)) / .seconds(1)
        if subject.isExact { #expect(Double(total) > 0.6 * 50 * seconds, "\(total) in \(seconds) s") }
    }

    /// A request that no wait would allow is an error, and takes nothing.
    private static func impossibleBudgets(_ subject: StoreSubject) async throws {
        let store = try await subject.connect()
        let good = SharedBudget(perSecond: 1, burst: 3)
        for count in [4, 1000, .max, -1, .min] {
            #expect(try await subject.code(of: store.take(count, from: "a", good)) == .invalidBudget)
        }
        for rate in [0, -1, .infinity, -.infinity, .nan, 1e-300, 1e300, .leastNonzeroMagnitude] as [Double] {
            let budget = SharedBudget(perSecond: rate, burst: 3)
            #expect(try await subject.code(of: store.take(1, from: "a", budget)) == .invalidBudget, "\(rate)")
        }
        for burst in [0, -1, .min, .max] {
            let budget = SharedBudget(perSecond: 1, burst: burst)
            #expect(
                try await subject.code(of: store.take(0, from: "a", budget)) == .invalidBudget, "\(burst)")
        }
        #expect(try await subject.value(of: store.take(3, from: "a", good)).isLimited == false)
        // The largest and the smallest that can be kept.
        for (rate, burst) in [(1e9, 1 << 30), (1e-6, 1000), (1, 1_000_000_000)] {
            let budget = SharedBudget(perSecond: rate, burst: burst)
            let key = "\(rate) \(burst)"
            #expect(try await subject.value(of: store.take(burst, from: key, budget)).isLimited == false)
        }
        // After another burst was given, no reply goes beyond the budget asked about.
        let smaller = try await subject.value(of: store.take(1, from: "1.0 1000000000", good))
        #expect(smaller.isLimited && smaller.retryAfter <= .seconds(1) && smaller.remaining == 0)
    }

    // MARK: - Messages

    /// Messages arrive everywhere, in the order of their publication and without a lapse of time.
    private static func messages(_ subject: StoreSubject) async throws {
        let (one, two) = (try await subject.connect(), try await subject.connect())
        _ = try await subject.value(of: one.publish([0], to: "a"))
        let journals = [one, two].map { Journal($0.messages(of: "a")) }
        let other = Journal(two.messages(of: "b"))
        try await subject.until { journals.allSatisfy { $0.values == [.connected] } && !other.values.isEmpty }
        let start = subject.now()
        for number in 1...20 {
            _ = try await subject.value(of: (number % 4 == 0 ? two : one).publish([UInt8(number)], to: "a"))
        }
        _ = try await subject.value(of: one.publish([], to: "b"))
        let expected = [SharedMessage.connected] + (1...20).map { .message([$0]) }
        try await subject.until { journals.allSatisfy { $0.values.count >= expected.count } }
        for journal in journals { #expect(journal.values == expected) }
        try await subject.until { other.values.count > 1 }
        #expect(other.values == [.connected, .message([])])
        if subject.isExact { #expect(subject.now() - start < .milliseconds(200), "by push") }
        journals[0].cancel()
        _ = try await subject.value(of: two.publish([99], to: "a"))
        try await subject.until { journals[1].values.count > expected.count }
        #expect(journals[0].values == expected)
        // A new subscription begins with what comes after it.
        let late = Journal(one.messages(of: "a"))
        try await subject.until { late.values == [.connected] }
        _ = try await subject.value(of: one.publish([100], to: "a"))
        try await subject.until { late.values.count > 1 }
        #expect(late.values == [.connected, .message([100])])
    }

    // MARK: - Sizes

    /// Entries, messages and names that are too large are refused before they reach the store, and change nothing.
    private static func sizes(_ subject: StoreSubject) async throws {
        let store = try await subject.connect()
        let longest = String(repeating: "k", count: 1024)
        let budget = SharedBudget(perSecond: 1, burst: 1)
        _ = try await subject.write(store, longest, "1", .absent)
        #expect(try await subject.text(store, longest) == "1")
        let name = try await subject.granted(store, longest)
        name.journal.cancel()
        #expect(try await subject.code(of: store.read(longest + "k")) == .tooLarge)
        let accent = String(repeating: "é", count: 513)
        #expect(try await subject.code(of: store.read(accent)) == .tooLarge, "bytes count, not characters")
        #expect(try await subject.code(of: store.take(1, from: longest + "k", budget)) == .tooLarge)
        #expect(try await subject.code(of: store.publish([], to: longest + "k")) == .tooLarge)
        #expect(try await subject.code(of: store.lease(longest + "k", for: .seconds(1))) == .tooLarge)
        let swap = store.swap(longest + "k", to: [], expecting: .any, under: nil, for: nil)
        #expect(try await subject.code(of: swap) == .tooLarge)
        let large = [UInt8](repeating: 1, count: 8 << 20)
        let tooLarge = store.swap("a", to: large + [1], expecting: .any, under: nil, for: nil)
        #expect(try await subject.code(of: tooLarge) == .tooLarge)
        #expect(try await subject.value(of: store.read("a")) == nil)
        _ = try await subject.value(of: store.swap("a", to: large, expecting: .any, under: nil, for: nil))
        #expect(try await subject.value(of: store.read("a"))?.bytes == large)
        let message = [UInt8](repeating: 1, count: 256 << 10)
        #expect(try await subject.code(of: store.publish(message + [1], to: "a")) == .tooLarge)
        let journal = Journal(store.messages(of: "a"))
        try await subject.until { !journal.values.isEmpty }
        _ = try await subject.value(of: store.publish(message, to: "a"))
        try await subject.until { journal.values.count == 2 }
        #expect(journal.values.last == .message(message))
    }
}
#endif
