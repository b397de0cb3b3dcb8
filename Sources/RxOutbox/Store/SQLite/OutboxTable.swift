#if Outbox
import CZlib
import FoundationEssentials
import GRDB
import RxSQLite

/// The statements on the tables, within a transaction.
struct OutboxTable {
    /// The state shared by the changes of one transaction.
    private final class Work {
        var changeCount = 0
        var lease: Int64?
    }

    let db: Database
    /// The number of the lease whose lock this process holds.
    private let held: Int64?
    private let work = Work()

    init(db: Database, held: Int64? = nil) {
        self.db = db
        self.held = held
    }

    /// Increased with each change of the tables or of their contents. A new version has its part in
    /// `statements(of:)`, `create(in:)`, `upgrade(_:)` and `check(_:)`.
    static let version = 4

    /// The statements that make the tables of version 1. `check(_:)` compares the text that a database keeps
    /// of them, so that not even a blank may change; nor in those of later versions.
    private static let first = [
        // `terms` and `delivery` are compact forms, or JSON in rows that version 1 or 2 has written. The columns before
        // them are copies of their parts, to search by. `terms`, `content` and `delivery` are covered by CRC-32, together
        // with the id.
        """
        CREATE TABLE entry (
            sequence INTEGER PRIMARY KEY AUTOINCREMENT, id TEXT NOT NULL UNIQUE, key TEXT UNIQUE, topic TEXT,
            phase INTEGER NOT NULL, terms BLOB NOT NULL, content BLOB NOT NULL, entryCheck INTEGER NOT NULL,
            delivery BLOB NOT NULL, deliveryCheck INTEGER NOT NULL)
        """,
        "CREATE INDEX entryByTopic ON entry(topic) WHERE topic IS NOT NULL",
        // One row: the number of changes, and the number of the latest lease.
        "CREATE TABLE state (revision INTEGER NOT NULL, lease INTEGER NOT NULL)",
    ]

    /// The statements that version 2 adds; as in `first`, the text must not change. Everything but the number is
    /// covered by the check; the date is in seconds.
    private static let second = [
        """
        CREATE TABLE receipt (
            number INTEGER PRIMARY KEY AUTOINCREMENT, id TEXT NOT NULL UNIQUE, date REAL NOT NULL,
            isSealed INTEGER NOT NULL, content BLOB NOT NULL, receiptCheck INTEGER NOT NULL)
        """
    ]

    /// The statements that version 4 adds, for the keys of delivered entries until the server forgets them; as in `first`,
    /// the text must not change. Everything is covered by the check; the date is in seconds.
    private static let fourth = [
        """
        CREATE TABLE usedKey (
            key TEXT NOT NULL UNIQUE, id TEXT NOT NULL, until REAL NOT NULL, keyCheck INTEGER NOT NULL)
        """,
        "CREATE INDEX usedKeyByEnd ON usedKey(until)",
    ]

    /// The statements of a version, in the order of the schema.
    private static func statements(of version: Int) -> [String]? {
        switch version {
        case 1: first
        case 2, 3: first + second
        case 4: first + second + fourth
        default: nil
        }
    }

    /// The numbers in the column `phase`, which stored rows have, and the queries in `OperatingAnOutbox.md`.
    enum Phase {
        static let open = 0
        static let sending = 1
        static let dead = 2

        static func of(_ delivery: OutboxDelivery) -> Int {
            switch delivery.phase {
            case .queued, .waiting: open
            case .sending: sending
            case .dead: dead
            }
        }
    }

    // MARK: - The schema

    static func create(in db: Database) throws {
        for statement in first + second + fourth { try db.execute(sql: statement) }
        try db.execute(sql: "INSERT INTO state VALUES (0, 0); PRAGMA user_version = \(version)")
    }

    /// Brings the tables of an older version to the current one, within a transaction. Version 3 writes compact forms
    /// and reads JSON, too, so the rows stay; version 4 has forms for given keys and for entries of another release. A
    /// release that knows only an older version, and has opened the database before, sends the entries that it has
    /// read; rows that it cannot read are damage to it, and wait for the end of its process.
    static func upgrade(_ db: Database) throws {
        guard let version = try Int.fetchOne(db, sql: "PRAGMA user_version"), version < Self.version else {
            return
        }
        if version == 1 {
            for statement in second { try db.execute(sql: statement) }
        }
        for statement in fourth { try db.execute(sql: statement) }
        try db.execute(sql: "PRAGMA user_version = \(Self.version)")
    }

    /// The version of the database. Throws unless the database is of a known version, complete and undamaged.
    static func check(_ db: Database) throws -> Int {
        let version = try Int.fetchOne(db, sql: "PRAGMA user_version") ?? 0
        guard version <= Self.version else {
            throw SQLiteFailure(
                .refused,
                "a newer release has written the outbox (version \(version), this one reads \(Self.version))")
        }
        let found = try String.fetchAll(
            db,
            sql: #"""
                SELECT coalesce(sql, '') FROM sqlite_schema WHERE name NOT LIKE 'sqlite\_%' ESCAPE '\' ORDER BY rowid
                """#)
        guard found == statements(of: version) else {
            throw SQLiteFailure(.damaged, "the tables are not those of an outbox")
        }
        guard try String.fetchOne(db, sql: "PRAGMA integrity_check(1)") == "ok" else {
            throw SQLiteFailure(.damaged, "SQLite finds the database damaged")
        }
        guard try Int.fetchOne(db, sql: "SELECT count(*) FROM state") == 1 else {
            throw SQLiteFailure(.damaged, "the state of the outbox is missing")
        }
        let table = OutboxTable(db: db)
        let rows = try Row.fetchCursor(db, sql: "SELECT * FROM entry")
        // The copies in the columns are compared with their originals by whoever reads an entry.
        while let row = try rows.next() {
            _ = try table.intactTerms(row, withContent: true)
            _ = try table.intactDelivery(row)
        }
        guard version > 1 else { return version }
        let receipts = try Row.fetchCursor(db, sql: "SELECT * FROM receipt")
        while let row = try receipts.next() { _ = try table.receipt(row) }
        guard version > 3 else { return version }
        let keys = try Row.fetchCursor(db, sql: "SELECT * FROM usedKey")
        while let row = try keys.next() { _ = try table.usedKey(row) }
        return version
    }

    // MARK: - Entries

    func load() throws -> OutboxSnapshot {
        let rows = try Row.fetchCursor(
            db,
            sql: """
                SELECT sequence, id, key, topic, phase, terms, delivery, deliveryCheck FROM entry ORDER BY sequence
                """)
        var entries: [OutboxEntry] = []
        while let row = try rows.next() { entries.append(try entry(row, withContent: false)) }
        return OutboxSnapshot(entries: entries, revision: try revision())
    }

    func content(of id: OutboxID) throws -> Data? { try row(id).map { try whole($0).content } }

    /// Adds an entry by the rules of ``OutboxStore/add(_:_:)``. ``MemoryOutboxStore`` and `SharedOutboxStore` of
    /// RxFleet have the same; change all three.
    func add(_ row: OutboxRow) throws -> OutboxAddition {
        let entry = row.entry
        if let delivered = try delivered(entry) { return .delivered(delivered) }
        try db.cachedStatement(
            sql: """
                INSERT INTO entry (id, key, topic, phase, terms, content, entryCheck, delivery, deliveryCheck)
                VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (key) DO NOTHING
                """
        ).execute(arguments: [
            entry.id.rawValue, entry.guarantee.key, entry.topic, row.delivery.phase, row.terms,
            row.content, row.entryCheck, row.delivery.encoded, row.delivery.check,
        ])
        guard db.changesCount > 0 else { return try known(entry) }
        let sequence = db.lastInsertedRowID
        var replaced: [OutboxID] = []
        if let topic = entry.topic {
            let rows = try Row.fetchAll(
                db.cachedStatement(
                    sql: "SELECT id, terms FROM entry WHERE topic = ? AND phase <> ? AND sequence <> ?"),
                arguments: [topic, Phase.sending, sequence])
            for row in rows {
                let (id, terms) = try intactTerms(row, withContent: false)
                guard let former = try? OutboxEntry.Terms(stored: terms) else { throw Self.damage }
                guard former.account == entry.account else { continue }
                try db.cachedStatement(sql: "DELETE FROM entry WHERE id = ?").execute(arguments: [id.rawValue]
                )
                replaced.append(id)
            }
        }
        work.changeCount += 1
        return .added(sequence: sequence, replaced: replaced)
    }

    /// The entry that was delivered with a given key within the life of the key.
    private func delivered(_ entry: OutboxEntry) throws -> OutboxID? {
        guard let key = entry.usedKeyName,
            let row = try Row.fetchOne(
                db.cachedStatement(sql: "SELECT * FROM usedKey WHERE key = ?"), arguments: [key])
        else { return nil }
        let used = try usedKey(row)
        return used.until > entry.created ? used.id : nil
    }

    /// The entry with the key of one that was not added.
    private func known(_ entry: OutboxEntry) throws -> OutboxAddition {
        guard let key = entry.guarantee.key,
            let row = try Row.fetchOne(
                db.cachedStatement(sql: "SELECT * FROM entry WHERE key = ?"), arguments: [key])
        else { throw Self.damage }
        let known = try whole(row)
        return .exists(known.entry, known.content)
    }

    /// Changes an entry. The conditions are those of ``OutboxChange/isAllowed(for:)``, as statements; change both.
    func change(_ change: PreparedChange, under lease: OutboxLease?) throws -> OutboxChange.Outcome {
        // A folder that was removed and made again counts its leases from the start.
        if let lease, lease.number != held { return .leaseLost }
        if let lease, try latestLease() != lease.number { return .leaseLost }
        var content: Data?
        switch change {
        case .begin(let id, let delivery):
            // All rows, since SQLite completes a statement with its last one.
            let rows = try Row.fetchAll(
                db.cachedStatement(
                    sql: """
                        UPDATE entry SET phase = ?, delivery = ?, deliveryCheck = ? WHERE id = ? AND phase <> ?
                        RETURNING id, terms, content, entryCheck
                        """),
                arguments: [delivery.phase, delivery.encoded, delivery.check, id.rawValue, Phase.dead])
            guard let row = rows.first else { return .gone }
            _ = try intactTerms(row, withContent: true)
            content = row["content"]
        case .settle(let id, let delivery):
            try db.cachedStatement(
                sql: "UPDATE entry SET phase = ?, delivery = ?, deliveryCheck = ? WHERE id = ? AND phase <> ?"
            ).execute(
                arguments: [delivery.phase, delivery.encoded, delivery.check, id.rawValue, Phase.dead])
            guard db.changesCount > 0 else { return .gone }
        case .complete(let id, let receipt):
            try db.cachedStatement(sql: "DELETE FROM entry WHERE id = ? AND phase <> ?")
                .execute(arguments: [id.rawValue, Phase.dead])
            guard db.changesCount > 0 else { return .gone }
            if let receipt { try keep(receipt) }
        case .discard(let id):
            try db.cachedStatement(sql: "DELETE FROM entry WHERE id = ? AND phase = ?")
                .execute(arguments: [id.rawValue, Phase.dead])
            guard db.changesCount > 0 else { return .gone }
        case .revive(let entry, let edited):
            guard let row = try row(entry.id), row["phase"] == Phase.dead else { return .gone }
            let known = try whole(row)
            guard known.entry.delivery.since == entry.delivery.since else { return .gone }
            try replace(OutboxRow(entry, edited ?? known.content))
        }
        work.changeCount += 1
        return .applied(content)
    }

    private func replace(_ row: OutboxRow) throws {
        let entry = row.entry
        try db.execute(
            sql: """
                UPDATE entry SET key = ?, topic = ?, terms = ?, content = ?, entryCheck = ?, phase = ?,
                    delivery = ?, deliveryCheck = ?
                WHERE id = ?
                """,
            arguments: [
                entry.guarantee.key, entry.topic, row.terms, row.content, row.entryCheck,
                row.delivery.phase, row.delivery.encoded, row.delivery.check, entry.id.rawValue,
            ])
    }

    // MARK: - Receipts

    func receipt(of id: OutboxID) throws -> OutboxReceipt? {
        try Row.fetchOne(db, sql: "SELECT * FROM receipt WHERE id = ?", arguments: [id.rawValue]).map(receipt)
    }

    func removeReceipts(before date: Date, keeping limit: Int) throws {
        // A number of SQLite has 64 bits.
        let kept = Int64(clamping: max(limit, 0))
        try db.execute(
            sql: """
                DELETE FROM receipt
                WHERE date < ? OR number <= (SELECT number FROM receipt ORDER BY number DESC LIMIT 1 OFFSET ?)
                """, arguments: [date.timeIntervalSince1970, kept])
    }

    private func keep(_ receipt: OutboxReceipt) throws {
        if let used = receipt.usedKey { try keep(used, of: receipt) }
        guard !receipt.content.isEmpty else { return }
        let date = receipt.delivered.timeIntervalSince1970
        try db.cachedStatement(
            sql:
                "INSERT OR REPLACE INTO receipt (id, date, isSealed, content, receiptCheck) VALUES (?, ?, ?, ?, ?)"
        ).execute(arguments: [
            receipt.id.rawValue, date, receipt.isSealed, receipt.content,
            Self.check(receipt.id, Self.frame(date, receipt.isSealed), receipt.content),
        ])
    }

    /// Keeps a key, and forgets those whose life is over.
    private func keep(_ used: UsedKey, of receipt: OutboxReceipt) throws {
        try db.cachedStatement(sql: "DELETE FROM usedKey WHERE until <= ?")
            .execute(arguments: [receipt.delivered.timeIntervalSince1970])
        let until = used.until.timeIntervalSince1970
        try db.cachedStatement(
            sql: "INSERT OR REPLACE INTO usedKey (key, id, until, keyCheck) VALUES (?, ?, ?, ?)"
        ).execute(arguments: [
            used.key, receipt.id.rawValue, until,
            Self.check(receipt.id, Data(used.key.utf8), Self.frame(until, true)),
        ])
    }

    /// - Throws: `damaged` if it is not what was written.
    private func usedKey(_ row: Row) throws -> (id: OutboxID, until: Date) {
        guard let id = String.fromDatabaseValue(row["id"]).map(OutboxID.init(rawValue:)),
            let key = String.fromDatabaseValue(row["key"]),
            let until = Double.fromDatabaseValue(row["until"]),
            Int64.fromDatabaseValue(row["keyCheck"])
                == Self.check(id, Data(key.utf8), Self.frame(until, true))
        else { throw Self.damage }
        return (id, Date(timeIntervalSince1970: until))
    }

    /// - Throws: `damaged` if it is not what was written.
    private func receipt(_ row: Row) throws -> OutboxReceipt {
        guard let id = String.fromDatabaseValue(row["id"]).map(OutboxID.init(rawValue:)),
            let date = Double.fromDatabaseValue(row["date"]),
            let isSealed = Bool.fromDatabaseValue(row["isSealed"]),
            let content = Data.fromDatabaseValue(row["content"]),
            Int64.fromDatabaseValue(row["receiptCheck"])
                == Self.check(id, Self.frame(date, isSealed), content)
        else { throw Self.damage }
        return OutboxReceipt(
            id: id, delivered: Date(timeIntervalSince1970: date), isSealed: isSealed, content: content)
    }

    /// The form in which stored checks cover these values: with another one, all receipts and used keys would
    /// count as damaged.
    private static func frame(_ date: Double, _ isSealed: Bool) -> Data {
        Data("\(date.bitPattern) \(isSealed)".utf8)
    }

    // MARK: - State

    func revision() throws -> Int64 {
        try Int64.fetchOne(db.cachedStatement(sql: "SELECT revision FROM state")) ?? 0
    }

    /// Counts the changes of the transaction, all at once. Call it at the end.
    func countChanges() throws {
        guard work.changeCount > 0 else { return }
        try db.cachedStatement(sql: "UPDATE state SET revision = revision + ?").execute(
            arguments: [work.changeCount])
    }

    /// The number of the latest lease, which no other process changes within the transaction.
    private func latestLease() throws -> Int64? {
        if let lease = work.lease { return lease }
        work.lease = try Int64.fetchOne(db.cachedStatement(sql: "SELECT lease FROM state"))
        return work.lease
    }

    /// A new fencing number.
    func takeLease() throws -> Int64 {
        try db.execute(sql: "UPDATE state SET lease = lease + 1")
        return try Int64.fetchOne(db, sql: "SELECT lease FROM state") ?? 0
    }

    // MARK: - Rows

    private func row(_ id: OutboxID) throws -> Row? {
        try Row.fetchOne(
            db.cachedStatement(sql: "SELECT * FROM entry WHERE id = ?"), arguments: [id.rawValue])
    }

    private func whole(_ row: Row) throws -> (entry: OutboxEntry, content: Data) {
        (try entry(row, withContent: true), row["content"])
    }

    /// The terms of a row, still encoded.
    ///
    /// - Throws: `damaged` if they, or the content, are not what was written.
    private func intactTerms(_ row: Row, withContent: Bool) throws -> (id: OutboxID, terms: Data) {
        guard let id = String.fromDatabaseValue(row["id"]).map(OutboxID.init(rawValue:)),
            let terms = Data.fromDatabaseValue(row["terms"])
        else { throw Self.damage }
        guard withContent else { return (id, terms) }
        guard let content = Data.fromDatabaseValue(row["content"]),
            Int64.fromDatabaseValue(row["entryCheck"]) == Self.check(id, terms, content)
        else { throw Self.damage }
        return (id, terms)
    }

    /// The delivery of a row, still encoded.
    ///
    /// - Throws: `damaged` if it is not what was written.
    private func intactDelivery(_ row: Row) throws -> Data {
        guard let id = String.fromDatabaseValue(row["id"]).map(OutboxID.init(rawValue:)),
            let delivery = Data.fromDatabaseValue(row["delivery"]),
            Int64.fromDatabaseValue(row["deliveryCheck"]) == Self.check(id, delivery)
        else { throw Self.damage }
        return delivery
    }

    /// The entry of a row.
    ///
    /// - Throws: `damaged` if it is not what was written.
    private func entry(_ row: Row, withContent: Bool) throws -> OutboxEntry {
        let (id, terms) = try intactTerms(row, withContent: withContent)
        let delivery = try intactDelivery(row)
        guard let sequence = Int64.fromDatabaseValue(row["sequence"]),
            let decodedTerms = try? OutboxEntry.Terms(stored: terms),
            let decodedDelivery = try? OutboxDelivery(stored: delivery)
        else { throw Self.damage }
        let entry = OutboxEntry(id: id, decodedTerms, sequence: sequence, decodedDelivery)
        guard String.fromDatabaseValue(row["key"]) == entry.guarantee.key,
            String.fromDatabaseValue(row["topic"]) == entry.topic,
            Int.fromDatabaseValue(row["phase"]) == Phase.of(entry.delivery)
        else { throw Self.damage }
        return entry
    }

    private static var damage: SQLiteFailure {
        SQLiteFailure(.damaged, "an entry is not what was written")
    }

    /// The CRC-32 of the id and the parts, each with its length. Rows have it: computed in another way, all would count
    /// as damaged.
    static func check(_ id: OutboxID, _ parts: Data...) -> Int64 {
        var check = crc32(0, nil, 0)
        for part in [Data(id.rawValue.utf8)] + parts {
            let count = UInt64(part.count).littleEndian
            unsafe withUnsafeBytes(of: count) { bytes in unsafe add(bytes, to: &check) }
            unsafe part.withUnsafeBytes { bytes in unsafe add(bytes, to: &check) }
        }
        return Int64(check)
    }

    private static func add(_ bytes: UnsafeRawBufferPointer, to check: inout UInt) {
        // zlib takes lengths of 32 bits.
        var rest = unsafe bytes[...]
        while let start = unsafe UnsafeRawBufferPointer(rebasing: rest).baseAddress, unsafe !rest.isEmpty {
            let part = unsafe rest.prefix(1 << 30)
            unsafe check = crc32(check, start.assumingMemoryBound(to: UInt8.self), UInt32(part.count))
            unsafe rest = rest.dropFirst(part.count)
        }
    }
}
#endif
