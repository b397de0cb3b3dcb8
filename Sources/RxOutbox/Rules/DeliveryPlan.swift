#if Outbox
import FoundationEssentials

/// The entries of an outbox and their order: which one may be sent next, and when. A pure state machine; its owner
/// stores what it decides, sends, and reports the outcome.
struct DeliveryPlan {
    /// The next thing to do.
    enum Step: Sendable, Hashable {
        /// Store the entry, and then send it; with the entry as it was.
        case send(OutboxEntry, before: OutboxEntry)
        /// Store the entry, which is dead now.
        case bury(OutboxEntry)
        /// The entry waits for its account; nothing is stored.
        case hold(OutboxEntry)
    }

    /// The decision about an entry after an attempt.
    enum Settlement: Sendable, Hashable {
        /// Remove it from the store.
        case delivered
        /// Store its delivery.
        case stored(OutboxEntry)
        /// Remove it from the store: it has certainly not arrived, and a later entry has its topic.
        case superseded
    }

    /// Entries that are sent one after another: those of one order or topic, or one that is independent of all others.
    private struct OrderedQueue {
        /// All entries in order.
        var members = SortedItems<Rank>()
        /// The number of those that are being sent or stored.
        var busyCount = 0
        /// The item of its head in ``ready`` or ``timed``, if it is in one of them.
        var item: Item?
    }

    /// An entry without an order or a topic has a queue of its own.
    private enum QueueID: Hashable {
        case shared(String)
        case own(OutboxID)
    }

    /// The position of an entry among all others.
    private struct Rank: Comparable {
        let sequence: Int64
        let id: OutboxID

        static func < (one: Rank, other: Rank) -> Bool { one.sequence < other.sequence }
    }

    /// An entry, by the time at which it is to be sent or expires.
    private struct Item: Comparable {
        let due: Date
        let rank: Rank

        var isReady: Bool { due == .distantPast }

        static func < (one: Item, other: Item) -> Bool { (one.due, one.rank) < (other.due, other.rank) }
    }

    private(set) var entries: [OutboxID: OutboxEntry] = [:]
    /// The number of entries in each phase.
    private(set) var counts = OutboxCounts()
    private var queues: [QueueID: OrderedQueue] = [:]
    /// The heads of the queues that are not busy, and that have not been sent yet.
    private var ready = SortedItems<Item>()
    /// The other heads of the queues that are not busy, by the time at which they may be sent.
    private var timed = SortedItems<Item>()
    /// Whether an entry that has waited comes before one that has not been sent yet. They take turns, so that a flood of
    /// new entries does not keep the others waiting.
    private var isTurnOfTimed = false
    /// The entries with an expiry, by its time.
    private var expiries = SortedItems<Item>()
    /// The state of an entry before its running attempt.
    private struct Former {
        /// When a request of an attempt before the running one may have arrived first; `nil` if certainly none has.
        var mayHaveArrivedSince: Date?
        /// Why it waited last.
        var reason: WaitReason?
    }

    /// The entries being sent.
    private var running: [OutboxID: Former] = [:]
    /// The deliveries that the store has of entries that have been made due before their time.
    private var awake: [OutboxID: OutboxDelivery] = [:]
    /// Busy entries that are not being sent: a decision about them is being stored.
    private var storing: Set<OutboxID> = []
    let schedule: OutboxSchedule
    /// The most entries that are sent at the same time.
    let concurrency: Int

    init(schedule: OutboxSchedule = OutboxSchedule(), concurrency: Int = 16) {
        self.schedule = schedule
        self.concurrency = max(concurrency, 1)
    }

    /// The number of entries that are being sent or stored.
    var busyCount: Int { running.count + storing.count }

    /// The entries that are being sent.
    var sending: [OutboxID] { running.keys.sorted() }

    /// Whether the entry is being sent or stored.
    func isBusy(_ id: OutboxID) -> Bool { running[id] != nil || storing.contains(id) }

    /// When ``next(at:account:isOnline:)`` may return something, if nothing else happens before.
    func wakeTime(isOnline: Bool) -> Date? {
        let due = isOnline && running.count < concurrency ? (ready.first ?? timed.first)?.due : nil
        guard let expiry = expiries.first?.due else { return due }
        return due.map { min($0, expiry) } ?? expiry
    }

    // MARK: - The contents

    /// Adds an entry, or replaces what is known of it. A replacement of a busy entry is ignored: its owner knows better.
    mutating func insert(_ entry: OutboxEntry) {
        guard !isBusy(entry.id) else { return }
        if let known = entries[entry.id],
            known.sequence != entry.sequence || known.queueName != entry.queueName
        {
            remove(entry.id)
        }
        let isNew = entries[entry.id] == nil
        var entry = entry
        if let asleep = awake[entry.id] {
            if asleep == entry.delivery, let known = entries[entry.id] {
                entry.delivery = known.delivery
            } else {
                awake[entry.id] = nil
            }
        }
        put(entry)
        let rank = Rank(sequence: entry.sequence, id: entry.id)
        if isNew {
            queues[queueID(of: entry), default: OrderedQueue()].members.insert(rank)
        }
        updateExpiry(of: entry)
        reschedule(queueID(of: entry))
    }

    /// Removes an entry, whatever happens with it: the outcome of a running attempt is ignored.
    mutating func remove(_ id: OutboxID) {
        guard let entry = entries.removeValue(forKey: id) else { return }
        awake[id] = nil
        counts[entry.delivery.phase] -= 1
        let rank = Rank(sequence: entry.sequence, id: id)
        if let expires = entry.expires { expiries.remove(Item(due: expires, rank: rank)) }
        let queueID = queueID(of: entry)
        makeIdle(id, in: queueID)
        queues[queueID]?.members.remove(rank)
        reschedule(queueID)
    }

    // MARK: - Decisions

    /// The next step, if there is one at this time. The entry of a step is busy until it is settled or removed.
    ///
    /// - Parameters:
    ///   - account: the account that is logged in.
    ///   - isOnline: whether there is a network. Without one, entries only expire.
    mutating func next(at now: Date, account: String?, isOnline: Bool = true) -> Step? {
        while let expiry = expiries.first, expiry.due <= now {
            expiries.remove(expiry)
            // A running attempt is left to its outcome.
            if let entry = entries[expiry.rank.id], !isBusy(entry.id), entry.delivery.deadReason == nil {
                return bury(entry, .expired(entry.lastReason), at: now)
            }
        }
        guard isOnline, running.count < concurrency, let item = nextItem(at: now),
            let entry = entries[item.rank.id]
        else { return nil }
        if let expires = entry.expires, now >= expires {
            return bury(entry, .expired(entry.lastReason), at: now)
        }
        if let end = entry.keyEnd, now >= end { return bury(entry, .keyExpired(entry.lastReason), at: now) }
        if case .sending = entry.delivery.phase, entry.guarantee == .atMostOnce {
            return bury(entry, .uncertain(.interrupted), at: now)
        }
        if let owner = entry.account, owner != account {
            var held = entry
            held.delivery.phase = .waiting(until: .distantFuture, .account)
            put(held)
            reschedule(queueID(of: entry))
            return .hold(held)
        }
        var sent = entry
        sent.delivery.attempts += 1
        sent.delivery.phase = .sending
        sent.delivery.since = now
        sent.delivery.mayHaveArrivedSince = entry.delivery.mayHaveArrivedSince ?? now
        running[entry.id] = Former(
            mayHaveArrivedSince: entry.delivery.mayHaveArrivedSince, reason: entry.lastReason)
        put(sent)
        makeBusy(sent)
        return .send(sent, before: entry)
    }

    private mutating func nextItem(at now: Date) -> Item? {
        let due = timed.first.flatMap { $0.due <= now ? $0 : nil }
        defer { isTurnOfTimed.toggle() }
        return isTurnOfTimed ? due ?? ready.first : ready.first ?? due
    }

    /// When a request of the entry may have arrived first before its running attempt.
    func mayHaveArrivedSince(before id: OutboxID) -> Date? { running[id]?.mayHaveArrivedSince }

    private mutating func bury(_ entry: OutboxEntry, _ reason: DeadReason, at now: Date) -> Step {
        var dead = entry
        dead.delivery.phase = .dead(reason)
        dead.delivery.since = now
        storing.insert(entry.id)
        makeBusy(entry)
        return .bury(dead)
    }

    /// The attempt has failed. The entry stays busy until the caller has stored the decision, and calls ``settle(_:)``
    /// or ``remove(_:)``.
    ///
    /// - Parameters:
    ///   - mayHaveArrived: whether a request of the attempt may have been executed.
    ///   - random: a number from 0 up to 1.
    mutating func fail(
        _ id: OutboxID, _ verdict: DeliveryRules.Verdict, mayHaveArrived: Bool, at now: Date, random: Double
    ) -> Settlement? {
        guard var entry = entries[id], let former = running.removeValue(forKey: id) else { return nil }
        storing.insert(id)
        awake[id] = nil
        if !mayHaveArrived { entry.delivery.mayHaveArrivedSince = former.mayHaveArrivedSince }
        entry.delivery.since = now
        switch verdict {
        case _ where entry.delivery.mayHaveArrivedSince == nil && isSuperseded(entry): return .superseded
        case .dead(.keyExpired(nil)): entry.delivery.phase = .dead(.keyExpired(former.reason))
        case .dead(.expired(nil)): entry.delivery.phase = .dead(.expired(former.reason))
        case .dead(let reason): entry.delivery.phase = .dead(reason)
        case .again(let reason, let minimum):
            let wait = schedule.wait(after: entry.delivery.attempts, random: random)
            entry.delivery.phase = .waiting(until: now + max(wait, minimum ?? .zero), reason)
        }
        return .stored(entry)
    }

    /// Whether an entry of the same topic was added while this one was being sent.
    private func isSuperseded(_ entry: OutboxEntry) -> Bool {
        guard let topic = entry.topic else { return false }
        return entries.values.contains { later in
            later.topic == topic && later.account == entry.account && later.sequence > entry.sequence
        }
    }

    /// The attempt has succeeded. The entry is busy until it is removed.
    mutating func succeed(_ id: OutboxID) -> Settlement? {
        guard entries[id] != nil, running.removeValue(forKey: id) != nil else { return nil }
        storing.insert(id)
        return .delivered
    }

    /// The decision about an entry is stored, or an attempt did not begin, since that could not be stored: the entry is
    /// this one now.
    mutating func settle(_ entry: OutboxEntry) {
        guard entries[entry.id] != nil else { return }
        makeIdle(entry.id, in: queueID(of: entry))
        put(entry)
        updateExpiry(of: entry)
        reschedule(queueID(of: entry))
    }

    /// Makes entries due now that wait for something that has changed.
    mutating func wake(at now: Date, where condition: (WaitReason) -> Bool) {
        for (id, entry) in entries {
            guard case .waiting(let until, let reason) = entry.delivery.phase, until > now, !isBusy(id),
                condition(reason)
            else { continue }
            var due = entry
            due.delivery.phase = .waiting(until: now, reason)
            if awake[id] == nil { awake[id] = entry.delivery }
            put(due)
            reschedule(queueID(of: entry))
        }
    }

    // MARK: - Queues

    private mutating func put(_ entry: OutboxEntry) {
        if let former = entries.updateValue(entry, forKey: entry.id) { counts[former.delivery.phase] -= 1 }
        counts[entry.delivery.phase] += 1
    }

    private func queueID(of entry: OutboxEntry) -> QueueID {
        entry.queueName.map { .shared($0) } ?? .own(entry.id)
    }

    private mutating func makeBusy(_ entry: OutboxEntry) {
        let queueID = queueID(of: entry)
        queues[queueID]?.busyCount += 1
        reschedule(queueID)
    }

    private mutating func makeIdle(_ id: OutboxID, in queueID: QueueID) {
        guard isBusy(id) else { return }
        running[id] = nil
        storing.remove(id)
        queues[queueID]?.busyCount -= 1
    }

    private mutating func updateExpiry(of entry: OutboxEntry) {
        guard let expires = entry.expires else { return }
        let item = Item(due: expires, rank: Rank(sequence: entry.sequence, id: entry.id))
        expiries.remove(item)
        if entry.delivery.deadReason == nil { expiries.insert(item) }
    }

    /// Notes the head of a queue, if it may be sent at some time. To be called after each change of the
    /// queue's members, of their deliveries, and of its `busyCount`.
    private mutating func reschedule(_ queueID: QueueID) {
        guard var queue = queues.removeValue(forKey: queueID) else { return }
        if let item = queue.item {
            if item.isReady { ready.remove(item) } else { timed.remove(item) }
        }
        queue.item = nil
        guard !queue.members.isEmpty else { return }
        if queue.busyCount == 0, let head = head(of: queue) {
            let item = Item(due: due(head), rank: Rank(sequence: head.sequence, id: head.id))
            if item.isReady { ready.insert(item) } else { timed.insert(item) }
            queue.item = item
        }
        queues[queueID] = queue
    }

    /// The first entry that is not dead; `nil` behind a dead one that blocks.
    private func head(of queue: OrderedQueue) -> OutboxEntry? {
        for rank in queue.members {
            guard let entry = entries[rank.id] else { continue }
            guard entry.delivery.deadReason != nil else { return entry }
            if entry.blocksWhenDead { return nil }
        }
        return nil
    }

    private func due(_ entry: OutboxEntry) -> Date {
        guard case .waiting(let until, _) = entry.delivery.phase else { return .distantPast }
        return [until, entry.keyEnd, entry.expires].compactMap(\.self).min() ?? until
    }
}

extension OutboxEntry {
    /// Why the entry waited last.
    var lastReason: WaitReason? {
        switch delivery.phase {
        case .waiting(_, let reason): reason
        case .sending: .interrupted
        case .queued, .dead: nil
        }
    }
}

/// Elements in ascending order. Most are inserted near the end and removed near the front, which takes no time in proportion
/// to their number.
private struct SortedItems<Element: Comparable>: Sequence {
    private var elements: [Element] = []
    /// The number of elements at the front that have been removed.
    private var start = 0

    /// The number of elements before a removed one that are moved, instead of those behind it.
    private static var near: Int { 128 }

    var first: Element? { start < elements.count ? elements[start] : nil }

    var isEmpty: Bool { start == elements.count }

    func makeIterator() -> ArraySlice<Element>.Iterator { elements[start...].makeIterator() }

    mutating func insert(_ element: Element) {
        let index = elements[start...].partitioningIndex { element < $0 }
        elements.insert(element, at: index)
    }

    mutating func remove(_ element: Element) {
        let index = elements[start...].partitioningIndex { element <= $0 }
        guard index < elements.count, elements[index] == element else { return }
        guard index - start <= Self.near else {
            elements.remove(at: index)
            return
        }
        for next in stride(from: index, to: start, by: -1) { elements.swapAt(next, next - 1) }
        start += 1
        guard start > 64, start * 2 > elements.count else { return }
        elements.removeFirst(start)
        start = 0
    }
}

extension ArraySlice {
    /// The first index at which `isBehind` holds, in a slice where it holds for a tail.
    fileprivate func partitioningIndex(where isBehind: (Element) -> Bool) -> Int {
        var range = startIndex..<endIndex
        while !range.isEmpty {
            let middle = range.lowerBound + range.count / 2
            range = isBehind(self[middle]) ? range.lowerBound..<middle : (middle + 1)..<range.upperBound
        }
        return range.lowerBound
    }
}
#endif
