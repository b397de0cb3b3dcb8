#if Fleet
import FoundationEssentials
import GRDB
import RxSQLite

/// Leases and those that wait for them, within one transaction.
///
/// Nobody hands a lease over: whoever waits takes it when it is free and it is their turn. Those behind the first wait a while
/// for each of those ahead, whose processes may be stopped, and then pass them over.
struct LeaseTable {
    let db: Database
    let now: Int64
    /// How long the first in the queue may take for its turn before the next one takes it, in nanoseconds. All
    /// processes must have the same; the documentation of ``FileStore`` and Fleets.md state it.
    static let grace: Int64 = 1_000_000_000
    /// The most waiters that are looked at.
    private static let maxWaiters = 4096

    /// The next step of a store that waits for a lease.
    enum Turn: Sendable, Equatable {
        /// To take it, for this waiter.
        case now(number: Int64, request: Int64)
        /// To look again at this time, or when something has changed.
        ///
        /// - Parameter wasLate: whether it has been passed over, and has to say that it runs again.
        case later(Int64, wasLate: Bool)
    }

    /// Enters a request at the end of the queue.
    func enter(_ name: String, _ store: String, _ request: Int64) throws {
        try db.cachedStatement(
            sql:
                "INSERT OR IGNORE INTO lease (name, fence, holder, request, end) VALUES (?, 0, NULL, NULL, ?)"
        ).execute(arguments: [Data(name.utf8), now])
        try db.cachedStatement(
            sql: "INSERT INTO waiter (lease, store, request, isLate) VALUES (?, ?, ?, 0)"
        ).execute(arguments: [Data(name.utf8), store, request])
    }

    /// The turn of the first request of a store; `nil` if none waits.
    func turn(of store: String, for name: String) throws -> Turn? {
        guard
            let lease = try Row.fetchOne(
                db.cachedStatement(sql: "SELECT end, holder IS NULL FROM lease WHERE name = ?"),
                arguments: [Data(name.utf8)])
        else { return nil }
        let (end, isReturned) = (try lease.integer(0), try lease.integer(1) == 1)
        let queue = try Row.fetchAll(
            db.cachedStatement(
                sql: """
                    SELECT number, store, request, isLate FROM waiter WHERE lease = ?1 AND (isLate = 0 OR store = ?2)
                    ORDER BY number LIMIT ?3
                    """),
            arguments: [Data(name.utf8), store, Self.maxWaiters])
        guard let index = try queue.firstIndex(where: { try $0.text(1) == store }) else { return nil }
        let due = StoreTable.sum(end, Self.grace * Int64(index))
        guard isReturned || end <= now, due <= now else {
            return .later(due, wasLate: try queue[index].integer(3) != 0)
        }
        return .now(number: try queue[index].integer(0), request: try queue[index].integer(2))
    }

    /// Lets the others wait for the turns of this store again.
    func awake(_ name: String, _ store: String) throws {
        try db.cachedStatement(sql: "UPDATE waiter SET isLate = 0 WHERE lease = ? AND store = ?")
            .execute(arguments: [Data(name.utf8), store])
    }

    /// Takes a free lease for a waiter. Returns the fencing number.
    func take(_ name: String, for store: String, number: Int64, request: Int64, time: Int64) throws -> UInt64
    {
        try db.cachedStatement(
            sql: "UPDATE waiter SET isLate = 1 WHERE lease = ? AND number < ? AND isLate = 0"
        )
        .execute(arguments: [Data(name.utf8), number])
        try db.cachedStatement(sql: "DELETE FROM waiter WHERE number = ?").execute(arguments: [number])
        let fence = try Int64.fetchOne(
            db.cachedStatement(
                sql: """
                    UPDATE lease SET fence = fence + 1, holder = ?, request = ?, end = ? WHERE name = ? RETURNING fence
                    """),
            arguments: [store, request, now + time, Data(name.utf8)])
        guard let fence else { throw SQLiteFailure(.damaged, "a lease has lost its row") }
        return try StoreTable.number(fence)
    }

    /// Extends a lease; false if it has ended.
    func extend(_ lease: SharedLease, of store: String, for time: Int64) throws -> Bool {
        try db.cachedStatement(
            sql: "UPDATE lease SET end = ?1 WHERE name = ?2 AND fence = ?3 AND holder = ?4 AND end > ?5"
        ).execute(arguments: [now + time, Data(lease.name.utf8), Int64(clamping: lease.fence), store, now])
        return db.changesCount > 0
    }

    /// Returns a lease.
    func release(_ lease: SharedLease, of store: String) throws {
        try db.cachedStatement(
            sql: """
                UPDATE lease SET holder = NULL, request = NULL, end = min(end, ?1)
                WHERE name = ?2 AND fence = ?3 AND holder = ?4
                """
        ).execute(arguments: [now, Data(lease.name.utf8), Int64(clamping: lease.fence), store])
    }

    /// Removes a request from the queue.
    func leave(_ name: String, _ store: String, _ request: Int64) throws {
        try db.cachedStatement(sql: "DELETE FROM waiter WHERE lease = ? AND store = ? AND request = ?")
            .execute(arguments: [Data(name.utf8), store, request])
    }

    /// The other stores that a request may be waiting for: the holder, and those in the queue.
    func others(for name: String, than store: String) throws -> Set<String> {
        let found = try String.fetchAll(
            db.cachedStatement(
                sql: """
                    SELECT holder FROM lease WHERE name = ?1 AND holder IS NOT NULL
                    UNION SELECT store FROM waiter WHERE lease = ?1 LIMIT 1000
                    """),
            arguments: [Data(name.utf8)])
        return Set(found).subtracting([store])
    }

    /// Ends the leases and the waiting of a store that has ended.
    func remove(_ store: String) throws {
        try db.cachedStatement(
            sql: "UPDATE lease SET holder = NULL, request = NULL, end = min(end, ?) WHERE holder = ?"
        ).execute(arguments: [now, store])
        try db.cachedStatement(sql: "DELETE FROM waiter WHERE store = ?").execute(arguments: [store])
    }
}
#endif
