#if Fleet
import FoundationEssentials
import GRDB
import RxSQLite

/// The tables of a file store, within one transaction. Times are nanoseconds since the start of the machine.
struct StoreTable {
    let db: Database
    /// The current time.
    let now: Int64

    /// The application id in the file's header: `RxFl`.
    static let applicationID: Int32 = 0x5278_466C
    /// Increased with each change of the tables or of their contents.
    static let version = 1
    // The documentation of ``FileStore/messages(of:)`` and Fleets.md state these two.

    /// How long messages are kept for stores that are slow to read them, in nanoseconds.
    static let messageTime: Int64 = 60_000_000_000
    /// The most messages that are kept.
    static let maxMessages: Int64 = 4096

    /// Compared with the text in the file: any change, even of blanks, needs another ``version``.
    static let statements = [
        // Names are blobs, which are compared by all of their bytes.
        // The numbers that only grow: of entries' versions, and of the last message that was removed.
        "CREATE TABLE counter (version INTEGER NOT NULL, removedMessage INTEGER NOT NULL)",
        // The start of the machine that all times are measured from, and its date in nanoseconds since 1970.
        "CREATE TABLE origin (boot TEXT NOT NULL, date INTEGER NOT NULL)",
        "CREATE TABLE entry (key BLOB PRIMARY KEY, version INTEGER NOT NULL, end INTEGER, bytes BLOB NOT NULL)",
        "CREATE INDEX entryByEnd ON entry(end) WHERE end IS NOT NULL",
        "CREATE TABLE budget (key BLOB PRIMARY KEY, full INTEGER NOT NULL) WITHOUT ROWID",
        "CREATE INDEX budgetByFull ON budget(full)",
        // A row stays when the lease has ended, for its fencing number. Without a holder, `end` is when it became free.
        """
        CREATE TABLE lease (
            name BLOB PRIMARY KEY, fence INTEGER NOT NULL, holder TEXT, request INTEGER, end INTEGER NOT NULL)
            WITHOUT ROWID
        """,
        // `isLate` if it did not take its turn, so that the next ones do not wait for it again.
        """
        CREATE TABLE waiter (
            number INTEGER PRIMARY KEY AUTOINCREMENT, lease BLOB NOT NULL, store TEXT NOT NULL,
            request INTEGER NOT NULL, isLate INTEGER NOT NULL)
        """,
        "CREATE INDEX waiterByLease ON waiter(lease, number)",
        """
        CREATE TABLE message (
            number INTEGER PRIMARY KEY AUTOINCREMENT, channel BLOB NOT NULL, end INTEGER NOT NULL,
            bytes BLOB NOT NULL)
        """,
    ]

    /// Creates the tables of an empty database by ``statements``, whose text SQLite keeps and ``check(_:)`` compares.
    static func create(in db: Database, _ clock: StoreClock) throws {
        for statement in statements { try db.execute(sql: statement) }
        try db.execute(sql: "INSERT INTO counter VALUES (0, 0)")
        try db.execute(
            sql: "INSERT INTO origin VALUES (?, ?)", arguments: [clock.boot, origin(clock)])
        try db.execute(
            sql: "PRAGMA application_id = \(applicationID); PRAGMA user_version = \(version)")
    }

    /// Throws unless the tables are exactly these.
    static func check(_ db: Database) throws {
        guard try Int32.fetchOne(db, sql: "PRAGMA application_id") == applicationID else {
            throw SQLiteFailure(.damaged, "the database is that of another program")
        }
        let version = try Int.fetchOne(db, sql: "PRAGMA user_version") ?? 0
        guard version == Self.version else {
            throw SQLiteFailure(
                .otherVersion, "the database has version \(version); this library has \(Self.version)")
        }
        let found = try String.fetchAll(
            db,
            sql: #"""
                SELECT coalesce(sql, '') FROM sqlite_schema WHERE name NOT LIKE 'sqlite\_%' ESCAPE '\' ORDER BY rowid
                """#)
        guard found == statements else { throw SQLiteFailure(.damaged, "the database has other tables") }
        let rows = try Int.fetchOne(
            db, sql: "SELECT (SELECT count(*) FROM counter) * 10 + (SELECT count(*) FROM origin)")
        guard rows == 11 else { throw SQLiteFailure(.damaged, "the database has lost its counters") }
    }

    private static func origin(_ clock: StoreClock) -> Int64 {
        (clock.wall() - clock.now()).storedNanoseconds
    }

    /// Carries all times over to this start of the machine, by its date. No process of before runs any more.
    func begin(_ clock: StoreClock) throws {
        guard let row = try Row.fetchOne(db, sql: "SELECT boot, date FROM origin") else { return }
        guard try row.text(0) != clock.boot else { return }
        let origin = Self.origin(clock)
        // Bounded, so that no sum is too large for an integer of SQLite.
        let bound: Int64 = 4_000_000_000_000_000_000
        let shift = min(
            max(try row.integer(1).subtractingReportingOverflow(origin).partialValue, -bound), bound)
        try db.execute(
            sql: "UPDATE entry SET end = max(min(end, ?1), -?1) + ?2 WHERE end IS NOT NULL",
            arguments: [bound, shift])
        try db.execute(
            sql: "UPDATE budget SET full = max(min(full, ?1), -?1) + ?2", arguments: [bound, shift])
        // Nobody who could miss them has subscribed yet.
        try db.execute(
            sql: """
                UPDATE counter SET removedMessage = max(removedMessage, coalesce((SELECT max(number) FROM message), 0));
                DELETE FROM message; DELETE FROM waiter;
                """)
        try db.execute(sql: "UPDATE lease SET holder = NULL, request = NULL, end = ?", arguments: [now])
        try db.execute(sql: "UPDATE origin SET boot = ?, date = ?", arguments: [clock.boot, origin])
    }

    // MARK: - Entries

    func read(_ key: String) throws -> SharedEntry? {
        guard
            let row = try Row.fetchOne(
                db.cachedStatement(
                    sql: "SELECT version, bytes FROM entry WHERE key = ? AND (end IS NULL OR end > ?)"),
                arguments: [Data(key.utf8), now])
        else { return nil }
        return SharedEntry(bytes: try row.blob(1), version: try Self.number(row.integer(0)))
    }

    func swap(
        _ key: String, to bytes: [UInt8]?, expecting expected: ExpectedVersion, under lease: SharedLease?,
        for lifetime: Duration?
    ) throws -> SwapResult {
        let key = Data(key.utf8)
        if let lease {
            let fence = try Int64.fetchOne(
                db.cachedStatement(sql: "SELECT fence FROM lease WHERE name = ?"),
                arguments: [Data(lease.name.utf8)])
            // As in `RedisScript.swap`. Rows stay: a lease that this store does not know, or knows less of, is one of
            // data that are lost.
            guard let fence, try Self.number(fence) == lease.fence else { return .fenced }
        }
        let found = try Int64.fetchOne(
            db.cachedStatement(
                sql: "SELECT version FROM entry WHERE key = ? AND (end IS NULL OR end > ?)"),
            arguments: [key, now])
        let version = try found.map(Self.number)
        switch expected {
        case .any: break
        case .absent: if version != nil { return .conflict }
        case .exactly(let wanted): if version != wanted { return .conflict }
        }
        try removeOutdated()
        guard let bytes else {
            try db.cachedStatement(sql: "DELETE FROM entry WHERE key = ?").execute(arguments: [key])
            return .swapped(version: 0)
        }
        let written =
            try Int64.fetchOne(
                db.cachedStatement(sql: "UPDATE counter SET version = version + 1 RETURNING version")) ?? 0
        let end = lifetime.map { Self.sum(now, StoreRules.lifetime($0).storedNanoseconds) }
        try db.cachedStatement(
            sql: """
                INSERT INTO entry (key, version, end, bytes) VALUES (?1, ?2, ?3, coalesce(?4, zeroblob(0)))
                ON CONFLICT (key) DO UPDATE SET version = ?2, end = ?3, bytes = coalesce(?4, zeroblob(0))
                """
        ).execute(arguments: [key, written, end, Data(bytes)])
        return .swapped(version: try Self.number(written))
    }

    /// Removes some of what nobody can read any more. A budget that is full is the same as none; see ``CellRate``.
    private func removeOutdated() throws {
        try db.cachedStatement(
            sql: """
                DELETE FROM entry WHERE key IN (
                    SELECT key FROM entry WHERE end IS NOT NULL AND end <= ? ORDER BY end LIMIT 32)
                """
        ).execute(arguments: [now])
        try db.cachedStatement(
            sql:
                "DELETE FROM budget WHERE key IN (SELECT key FROM budget WHERE full <= ? ORDER BY full LIMIT 32)"
        ).execute(arguments: [now])
    }

    // MARK: - Budgets

    func take(_ rate: CellRate, from key: String) throws -> BudgetReply {
        let key = Data(key.utf8)
        let found = try Int64.fetchOne(
            db.cachedStatement(sql: "SELECT full FROM budget WHERE key = ?"), arguments: [key])
        let (reply, full) = rate.take(
            from: found.map { .nanoseconds($0) }, at: .nanoseconds(now))
        if let full {
            try db.cachedStatement(
                sql: "INSERT INTO budget VALUES (?1, ?2) ON CONFLICT (key) DO UPDATE SET full = ?2"
            ).execute(arguments: [key, full.storedNanoseconds])
        }
        return reply
    }

    // MARK: - Messages

    func publish(_ message: [UInt8], to channel: String) throws {
        try db.cachedStatement(
            sql: "INSERT INTO message (channel, end, bytes) VALUES (?, ?, coalesce(?, zeroblob(0)))"
        )
        .execute(arguments: [Data(channel.utf8), Self.sum(now, Self.messageTime), Data(message)])
        let number = db.lastInsertedRowID
        // Not each time, since it looks at all of them.
        guard number % 32 == 0 else { return }
        let last =
            try Int64.fetchOne(
                db.cachedStatement(sql: "SELECT max(number) FROM message WHERE end <= ?"), arguments: [now])
            ?? 0
        let removed = max(last, number - Self.maxMessages)
        try db.cachedStatement(sql: "DELETE FROM message WHERE number <= ?").execute(arguments: [removed])
        try db.cachedStatement(
            sql: "UPDATE counter SET removedMessage = max(removedMessage, ?)"
        ).execute(arguments: [removed])
    }

    /// A message that was published.
    struct Message: Sendable {
        let number: Int64
        let channel: String
        let bytes: [UInt8]
    }

    /// The most messages that are read at once.
    static let batchSize = 256

    /// The messages that follow a number; `nil` if one of them has been removed.
    func messages(after number: Int64) throws -> [Message]? {
        let removed = try Int64.fetchOne(db.cachedStatement(sql: "SELECT removedMessage FROM counter")) ?? 0
        guard removed <= number else { return nil }
        return try Row.fetchAll(
            db.cachedStatement(
                sql: "SELECT number, channel, bytes FROM message WHERE number > ? ORDER BY number LIMIT ?"),
            arguments: [number, Self.batchSize]
        ).map { row in
            Message(
                number: try row.integer(0), channel: String(decoding: try row.blob(1), as: UTF8.self),
                bytes: try row.blob(2))
        }
    }

    /// The number of the last message; greater than those of all that were removed.
    func lastMessage() throws -> Int64 {
        try Int64.fetchOne(
            db.cachedStatement(
                sql: """
                    SELECT max(removedMessage, coalesce((SELECT max(number) FROM message), 0)) FROM counter
                    """)) ?? 0
    }

    // MARK: - Values

    /// A number that is never negative.
    static func number(_ value: Int64) throws -> UInt64 {
        guard value >= 0 else { throw SQLiteFailure(.damaged, "a version or a fencing number is negative") }
        return UInt64(value)
    }

    static func sum(_ one: Int64, _ other: Int64) -> Int64 {
        let (sum, isTooLarge) = one.addingReportingOverflow(other)
        return isTooLarge ? .max : sum
    }
}

/// Columns of a file that may be damaged: a value of another type is an error.
extension Row {
    func integer(_ index: Int) throws -> Int64 {
        guard case .int64(let value) = (self[index] as DatabaseValue).storage else { throw Self.damage }
        return value
    }

    func text(_ index: Int) throws -> String {
        guard case .string(let value) = (self[index] as DatabaseValue).storage else { throw Self.damage }
        return value
    }

    func blob(_ index: Int) throws -> [UInt8] {
        guard case .blob(let value) = (self[index] as DatabaseValue).storage else { throw Self.damage }
        return Array(value)
    }

    private static var damage: SQLiteFailure {
        SQLiteFailure(.damaged, "a column has another type than was written")
    }
}
#endif
