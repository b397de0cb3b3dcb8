#if Fleet
import Synchronization

/// The entries of Redis that this process has read and nobody has changed since.
///
/// Redis tells of each change on the connection that reads (`CLIENT TRACKING … BCAST`), in the order of its replies. A
/// value that was read before a change is therefore here before the change is reported. Thread-safe.
final class RedisMemory: Sendable {
    /// Stands for the time between the reply with an entry and the one with its lifetime.
    struct Ticket: Sendable {
        fileprivate let number: UInt64
    }

    /// An entry that is held; without a value if it is known that there is none.
    fileprivate struct HeldEntry {
        let entry: SharedEntry?
        let end: Duration?
        let size: Int
        let number: UInt64
    }

    fileprivate struct Contents {
        var held: [String: HeldEntry] = [:]
        /// The number of the latest ticket for each entry whose lifetime has not arrived. A change removes it.
        var requested: [String: UInt64] = [:]
        /// The held entries in the order in which they came, among others that are gone.
        var order: [(key: String, number: UInt64)] = []
        var size = 0
        var latest: UInt64 = 0
    }

    private let contents = Mutex(Contents())
    private let limit: Int

    /// - Parameter limit: the most bytes of all entries together.
    init(limit: Int) { self.limit = limit }

    /// The entry if it is held: `.some(nil)` if it is known that there is none.
    func entry(_ key: String, at now: Duration) -> SharedEntry?? {
        contents.withLock { contents in
            guard let held = contents.held[key] else { return nil }
            if let end = held.end, end <= now {
                contents.remove(key)
                return nil
            }
            return .some(held.entry)
        }
    }

    /// Begins to hold an entry, when its value has arrived and before its lifetime has.
    func begin(_ key: String) -> Ticket {
        contents.withLock { contents in
            contents.latest += 1
            contents.requested[key] = contents.latest
            return Ticket(number: contents.latest)
        }
    }

    /// Holds an entry, unless it has changed since the ticket.
    func hold(_ entry: SharedEntry?, at key: String, until end: Duration?, _ ticket: Ticket) {
        contents.withLock { contents in
            guard contents.requested[key] == ticket.number else { return }
            contents.requested[key] = nil
            contents.remove(key)
            let size = key.utf8.count + (entry?.bytes.count ?? 0) + 128
            guard size <= limit / 4 else { return }
            contents.held[key] = HeldEntry(entry: entry, end: end, size: size, number: ticket.number)
            contents.order.append((key, ticket.number))
            contents.size += size
            contents.shrink(to: limit)
        }
    }

    /// Does not hold the entry of a ticket.
    func cancel(_ key: String, _ ticket: Ticket) {
        contents.withLock { contents in
            if contents.requested[key] == ticket.number { contents.requested[key] = nil }
        }
    }

    /// An entry has changed.
    func remove(_ key: String) {
        contents.withLock { contents in
            contents.requested[key] = nil
            contents.remove(key)
        }
    }

    /// Anything may have changed.
    func removeAll() {
        contents.withLock { contents in
            contents.held = [:]
            contents.requested = [:]
            contents.order = []
            contents.size = 0
        }
    }

    /// The number of held entries.
    var count: Int { contents.withLock { $0.held.count } }
}

extension RedisMemory.Contents {
    fileprivate mutating func remove(_ key: String) {
        guard let held = held.removeValue(forKey: key) else { return }
        size -= held.size
    }

    /// Removes the entries that came first.
    fileprivate mutating func shrink(to limit: Int) {
        var gone = 0
        while size > limit, gone < order.count {
            let (key, number) = order[gone]
            if held[key]?.number == number { remove(key) }
            gone += 1
        }
        order.removeFirst(gone)
        // Entries that were removed otherwise leave their places behind.
        if order.count > 64, order.count > 2 * held.count {
            order.removeAll { held[$0.key]?.number != $0.number }
        }
    }
}
#endif
