#if Outbox
import Foundation
import GRDB
import RxHTTP
import RxLite
import RxSQLite
import RxTesting
import TestServers
import Testing

@testable import RxOutbox

/// The store on disk: damage, other releases, permissions, and several stores on one folder.
@Suite(.timeLimit(.minutes(5))) struct SQLiteOutboxStoreTests {
    private static let start = Date(timeIntervalSince1970: 1_000_000)

    private func entry(_ number: Int) -> OutboxEntry {
        OutboxEntry(
            id: OutboxID(rawValue: "\(number)"),
            OutboxEntry.Terms(
                name: "n", version: 1, guarantee: .key("k\(number)", .stripe), created: Self.start))
    }

    /// A closed store with some entries.
    private func filled(_ folder: TemporaryFolder, count: Int = 20) async throws {
        let store = SQLiteOutboxStore(folder: folder.file("outbox"))
        for number in 0..<count {
            _ = try await store.add(entry(number), Data(repeating: UInt8(number), count: 300)).value()
        }
        _ = try await store.close().value()
    }

    private func code<Value: Sendable>(_ stream: Observable<Value, NetworkError>) async -> String? {
        do {
            _ = try await stream.value()
            return nil
        } catch {
            return error.code.rawValue
        }
    }

    /// Entries survive closing; the files belong to their user alone.
    @Test func survives() async throws {
        let folder = try TemporaryFolder()
        try await filled(folder)
        let store = SQLiteOutboxStore(folder: folder.file("outbox"))
        #expect(try await store.load().value().entries.count == 20)
        let attributes = try FileManager.default.attributesOfItem(atPath: folder.file("outbox/outbox.sqlite"))
        #expect((attributes[.posixPermissions] as? NSNumber)?.intValue == 0o600)
        let folderAttributes = try FileManager.default.attributesOfItem(atPath: folder.file("outbox"))
        #expect((folderAttributes[.posixPermissions] as? NSNumber)?.intValue == 0o700)
    }

    /// Each durability asks SQLite for its synchronous mode.
    @Test(arguments: [
        (SQLiteOutboxStore.Durability.machine, 2), (.process, 1),
    ])
    func synchronous(durability: SQLiteOutboxStore.Durability, mode: Int) throws {
        let folder = try TemporaryFolder()
        var database = OutboxDatabase(
            SQLiteFolder(path: folder.file("outbox"), patience: .seconds(1)), durability)
        let found = try database.read { table in
            [
                try String.fetchOne(table.db, sql: "PRAGMA journal_mode"),
                try String.fetchOne(table.db, sql: "PRAGMA synchronous"),
            ]
        }
        #expect(found == ["wal", "\(mode)"])
    }

    /// A file that is cut off anywhere is refused as a whole, and stays as it is.
    @Test(arguments: 0..<8)
    func truncated(part: Int) async throws {
        let folder = try TemporaryFolder()
        try await filled(folder)
        let path = folder.file("outbox/outbox.sqlite")
        let content = try Data(contentsOf: URL(filePath: path))
        let cut = content.prefix(content.count * part / 8)
        try cut.write(to: URL(filePath: path))
        let store = SQLiteOutboxStore(folder: folder.file("outbox"))
        #expect(await code(store.load()) == "file")
        #expect(await code(store.add(entry(99), Data())) == "file")
        #expect(await code(store.lease(renewing: nil, at: Self.start)) == "file")
        _ = try await store.close().value()
        #expect(try Data(contentsOf: URL(filePath: path)) == cut)
    }

    /// A flipped byte anywhere is noticed, or changes nothing.
    @Test(arguments: 0..<60)
    func flipped(seed: Int) async throws {
        let folder = try TemporaryFolder()
        try await filled(folder)
        let path = folder.file("outbox/outbox.sqlite")
        var random = SeededRandom(UInt64(seed))
        var content = [UInt8](try Data(contentsOf: URL(filePath: path)))
        let index = Int.random(in: 0..<content.count, using: &random)
        content[index] ^= UInt8(1) << UInt8(seed % 8)
        try Data(content).write(to: URL(filePath: path))
        let store = SQLiteOutboxStore(folder: folder.file("outbox"))
        guard let snapshot = try? await store.load().value() else { return }
        #expect(snapshot.entries.map(\.id.rawValue) == (0..<20).map { "\($0)" })
        for number in 0..<20 {
            let found = try await store.content(of: OutboxID(rawValue: "\(number)")).value()
            #expect(found == Data(repeating: UInt8(number), count: 300), "byte \(index)")
        }
    }

    /// A file that is no database, or has other tables, is refused.
    @Test func foreign() async throws {
        let folder = try TemporaryFolder()
        try await filled(folder)
        let path = folder.file("outbox/outbox.sqlite")
        let queue = try DatabaseQueue(path: path)
        try await queue.write { db in try db.execute(sql: "CREATE TABLE other (a)") }
        try queue.close()
        #expect(await code(SQLiteOutboxStore(folder: folder.file("outbox")).load()) == "file")
        try Data("not a database at all, but a text".utf8).write(to: URL(filePath: path))
        #expect(await code(SQLiteOutboxStore(folder: folder.file("outbox")).load()) == "file")
    }

    /// The database of a newer release is refused, and keeps its entries.
    @Test func newerRelease() async throws {
        let folder = try TemporaryFolder()
        try await filled(folder)
        let path = folder.file("outbox/outbox.sqlite")
        let newer = OutboxTable.version + 1
        let queue = try DatabaseQueue(path: path)
        try await queue.write { db in
            try db.execute(sql: "ALTER TABLE entry ADD COLUMN later; PRAGMA user_version = \(newer)")
        }
        try queue.close()
        do {
            _ = try await SQLiteOutboxStore(folder: folder.file("outbox")).load().value()
            Issue.record("opened")
        } catch {
            #expect(error.message.contains("a newer release has written the outbox"))
        }
        let again = try DatabaseQueue(path: path)
        let found = try await again.read { db in
            [
                try Int.fetchOne(db, sql: "PRAGMA user_version"),
                try Int.fetchOne(db, sql: "SELECT count(*) FROM entry WHERE later IS NULL"),
            ]
        }
        #expect(found == [newer, 20])
    }

    /// The tables of an older version, as the release that knew no other has made them.
    private static func tables(of version: Int) -> [String] {
        version == 1 ? firstTables : firstTables + [receiptTable]
    }

    private static let receiptTable = """
        CREATE TABLE receipt (
            number INTEGER PRIMARY KEY AUTOINCREMENT, id TEXT NOT NULL UNIQUE, date REAL NOT NULL,
            isSealed INTEGER NOT NULL, content BLOB NOT NULL, receiptCheck INTEGER NOT NULL)
        """

    private static let firstTables = [
        """
        CREATE TABLE entry (
            sequence INTEGER PRIMARY KEY AUTOINCREMENT, id TEXT NOT NULL UNIQUE, key TEXT UNIQUE, topic TEXT,
            phase INTEGER NOT NULL, terms BLOB NOT NULL, content BLOB NOT NULL, entryCheck INTEGER NOT NULL,
            delivery BLOB NOT NULL, deliveryCheck INTEGER NOT NULL)
        """,
        "CREATE INDEX entryByTopic ON entry(topic) WHERE topic IS NOT NULL",
        "CREATE TABLE state (revision INTEGER NOT NULL, lease INTEGER NOT NULL)",
    ]

    /// Makes the database of a folder one of an older version, with the entries that it has, as JSON.
    private func makeOlder(_ path: String, _ version: Int = 1) async throws {
        let queue = try DatabaseQueue(path: path)
        try await queue.writeWithoutTransaction { db in
            try db.execute(sql: "ATTACH DATABASE ? AS older", arguments: [path + ".older"])
            for statement in Self.tables(of: version) {
                try db.execute(
                    sql: statement.replacing("CREATE TABLE ", with: "CREATE TABLE older.")
                        .replacing("CREATE INDEX ", with: "CREATE INDEX older."))
            }
            try db.execute(
                sql: """
                    INSERT INTO older.entry SELECT * FROM main.entry; INSERT INTO older.state SELECT * FROM main.state;
                    PRAGMA older.user_version = \(version); DETACH DATABASE older
                    """)
        }
        try queue.close()
        try FileManager.default.removeItem(atPath: path)
        try FileManager.default.moveItem(atPath: path + ".older", toPath: path)
        let older = try DatabaseQueue(path: path)
        try await older.write { db in
            for row in try Row.fetchAll(db, sql: "SELECT * FROM entry") {
                let id = OutboxID(rawValue: row["id"])
                let terms = try JSONEncoder().encode(OutboxEntry.Terms(stored: row["terms"]))
                let delivery = try JSONEncoder().encode(OutboxDelivery(stored: row["delivery"]))
                try db.execute(
                    sql:
                        "UPDATE entry SET terms = ?, entryCheck = ?, delivery = ?, deliveryCheck = ? WHERE id = ?",
                    arguments: [
                        terms, OutboxTable.check(id, terms, row["content"]), delivery,
                        OutboxTable.check(id, delivery), id.rawValue,
                    ])
            }
        }
        try older.close()
        try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: path)
    }

    /// The database of an older release is upgraded with all its entries, once, and keeps receipts from then on.
    @Test(arguments: [1, 2, 3])
    func olderRelease(version: Int) async throws {
        let folder = try TemporaryFolder()
        try await filled(folder)
        let path = folder.file("outbox/outbox.sqlite")
        try await makeOlder(path, version)
        for _ in 0..<2 {
            let store = SQLiteOutboxStore(folder: folder.file("outbox"))
            let entries = try await store.load().value().entries
            #expect(entries.map(\.id.rawValue) == (0..<20).map { "\($0)" })
            #expect(entries.map(\.terms) == (0..<20).map { entry($0).terms })
            #expect(
                try await store.content(of: OutboxID(rawValue: "7")).value() == Data(repeating: 7, count: 300)
            )
            _ = try await store.close().value()
        }
        let store = SQLiteOutboxStore(folder: folder.file("outbox"))
        let receipt = OutboxReceipt(
            id: OutboxID(rawValue: "7"), delivered: Self.start, isSealed: false, content: Data("x".utf8))
        let change = OutboxChange.complete(receipt.id, receipt)
        #expect(try await store.change(change, under: nil).value() == .applied(nil))
        #expect(try await store.receipt(of: receipt.id).value() == receipt)
        // The numbers of sequence go on.
        guard case .added(let sequence, _) = try await store.add(entry(20), Data()).value() else {
            Issue.record("exists")
            return
        }
        #expect(sequence == 21)
    }

    /// A damaged database of an older release is refused, not upgraded.
    @Test func damagedOlderRelease() async throws {
        let folder = try TemporaryFolder()
        try await filled(folder)
        let path = folder.file("outbox/outbox.sqlite")
        try await makeOlder(path)
        let queue = try DatabaseQueue(path: path)
        try await queue.write { db in
            try db.execute(sql: "UPDATE entry SET content = x'00' WHERE id = '3'")
        }
        try queue.close()
        let store = SQLiteOutboxStore(folder: folder.file("outbox"))
        #expect(await code(store.load()) == "file")
        _ = try await store.close().value()
        let again = try DatabaseQueue(path: path)
        let found = try await again.read { db in
            [
                try Int.fetchOne(db, sql: "PRAGMA user_version"),
                try Int.fetchOne(db, sql: "SELECT count(*) FROM sqlite_schema WHERE name = 'receipt'"),
            ]
        }
        #expect(found == [1, 0])
    }

    /// A program that died left its latest entries in SQLite's log. A flipped byte or a cut there is noticed, or leaves
    /// what was durable at some time: the first entries in their order, each of them whole.
    @Test(arguments: 0..<40)
    func damagedLog(seed: Int) async throws {
        let folder = try TemporaryFolder()
        let store = SQLiteOutboxStore(folder: folder.file("outbox"))
        for number in 0..<20 {
            _ = try await store.add(entry(number), Data(repeating: UInt8(number), count: 300)).value()
        }
        // As a crash leaves it.
        try FileManager.default.copyItem(atPath: folder.file("outbox"), toPath: folder.file("crashed"))
        _ = try await store.close().value()
        let path = folder.file("crashed/outbox.sqlite-wal")
        var random = SeededRandom(UInt64(seed))
        var content = [UInt8](try Data(contentsOf: URL(filePath: path)))
        try #require(content.count > 20 * 4096)
        let index = Int.random(in: 0..<content.count, using: &random)
        if seed % 2 == 0 { content[index] ^= 1 << UInt8(seed % 8) } else { content.removeLast(index) }
        try Data(content).write(to: URL(filePath: path))
        try? FileManager.default.removeItem(atPath: folder.file("crashed/outbox.sqlite-shm"))
        let crashed = SQLiteOutboxStore(folder: folder.file("crashed"))
        guard let snapshot = try? await crashed.load().value() else { return }
        let ids = snapshot.entries.map(\.id.rawValue)
        #expect(ids == (0..<ids.count).map { "\($0)" })
        for number in 0..<ids.count {
            let found = try await crashed.content(of: OutboxID(rawValue: "\(number)")).value()
            #expect(found == Data(repeating: UInt8(number), count: 300))
        }
    }

    /// Old receipts are removed, and more than the limit; a damaged one is noticed.
    @Test func receipts() async throws {
        let folder = try TemporaryFolder()
        try await filled(folder)
        let store = SQLiteOutboxStore(folder: folder.file("outbox"))
        for number in 0..<20 {
            let id = OutboxID(rawValue: "\(number)")
            let receipt = OutboxReceipt(
                id: id, delivered: Self.start + Double(number), isSealed: false,
                content: Data("r\(number)".utf8))
            _ = try await store.change(.complete(id, receipt), under: nil).value()
        }
        func left(_ store: SQLiteOutboxStore) async throws -> [Int] {
            var found: [Int] = []
            for number in 0..<20
            where try await store.receipt(of: OutboxID(rawValue: "\(number)")).value() != nil {
                found.append(number)
            }
            return found
        }
        #expect(try await left(store) == Array(0..<20))
        _ = try await store.removeReceipts(before: Self.start + 5, keeping: 100).value()
        #expect(try await left(store) == Array(5..<20))
        _ = try await store.removeReceipts(before: Self.start, keeping: 4).value()
        #expect(try await left(store) == Array(16..<20))
        _ = try await store.close().value()

        let queue = try DatabaseQueue(path: folder.file("outbox/outbox.sqlite"))
        try await queue.write { db in
            try db.execute(sql: "UPDATE receipt SET date = date + 1 WHERE id = '17'")
        }
        try queue.close()
        #expect(await code(store.receipt(of: OutboxID(rawValue: "18"))) == "file")
        _ = try await store.close().value()
        let again = try DatabaseQueue(path: folder.file("outbox/outbox.sqlite"))
        try await again.write { db in try db.execute(sql: "DELETE FROM receipt WHERE id = '17'") }
        try again.close()
        _ = try await store.removeReceipts(before: .distantPast, keeping: 0).value()
        #expect(try await left(store).isEmpty)
    }

    /// A changed row of a used key is noticed.
    @Test func damagedKey() async throws {
        let folder = try TemporaryFolder()
        let store = SQLiteOutboxStore(folder: folder.file("outbox"))
        var given = entry(1)
        given.terms.isKeyGiven = true
        _ = try await store.add(given, Data()).value()
        let receipt = OutboxReceipt(
            id: given.id, delivered: Self.start, isSealed: false, content: Data(),
            usedKey: UsedKey("k1", until: Self.start + 60))
        _ = try await store.change(.complete(given.id, receipt), under: nil).value()
        _ = try await store.close().value()
        let queue = try DatabaseQueue(path: folder.file("outbox/outbox.sqlite"))
        try await queue.write { db in try db.execute(sql: "UPDATE usedKey SET until = 0") }
        try queue.close()
        #expect(await code(SQLiteOutboxStore(folder: folder.file("outbox")).load()) == "file")
    }

    /// A removed database is not silently replaced while it is in use.
    @Test func removed() async throws {
        let folder = try TemporaryFolder()
        let store = SQLiteOutboxStore(folder: folder.file("outbox"))
        _ = try await store.add(entry(1), Data()).value()
        try FileManager.default.removeItem(atPath: folder.file("outbox/outbox.sqlite"))
        #expect(await code(store.add(entry(2), Data())) == "file")
    }

    /// A folder that others can write to is refused.
    @Test func permissions() async throws {
        let folder = try TemporaryFolder()
        try await filled(folder)
        try FileManager.default.setAttributes(
            [.posixPermissions: 0o777], ofItemAtPath: folder.file("outbox"))
        #expect(await code(SQLiteOutboxStore(folder: folder.file("outbox")).load()) == "untrustedFile")
    }

    /// Of two stores on one folder, one has the lease, until it is closed or released.
    @Test func leases() async throws {
        let folder = try TemporaryFolder()
        var first: SQLiteOutboxStore? = SQLiteOutboxStore(folder: folder.file("outbox"))
        let second = SQLiteOutboxStore(folder: folder.file("outbox"))
        let lease = try #require(await first?.lease(renewing: nil, at: Self.start).value() ?? nil)
        #expect(try await second.lease(renewing: nil, at: Self.start).value() == nil)
        #expect(try await first?.lease(renewing: lease, at: Self.start).value() == lease)
        // Both may add entries.
        _ = try await second.add(entry(1), Data()).value()
        #expect(try await first?.load().value().entries.count == 1)
        // Closing the files is not giving the lease back.
        _ = try await first?.close().value()
        #expect(try await second.lease(renewing: nil, at: Self.start).value() == nil)
        _ = try await first?.release(lease).value()
        let next = try #require(await second.lease(renewing: nil, at: Self.start).value())
        #expect(next.number > lease.number)
        #expect(try await first?.lease(renewing: lease, at: Self.start).value() == .some(nil))
        first = nil
    }

    /// Of two outboxes with one store, one has the lease, and the end of the other one does not take it.
    @Test func leasesOfOneStore() async throws {
        let folder = try TemporaryFolder()
        let store = SQLiteOutboxStore(folder: folder.file("outbox"))
        let lease = try #require(await store.lease(renewing: nil, at: Self.start).value())
        #expect(try await store.lease(renewing: nil, at: Self.start).value() == nil)
        _ = try await store.release(OutboxLease(number: lease.number + 1)).value()
        _ = try await store.close().value()
        #expect(try await store.lease(renewing: lease, at: Self.start).value() == lease)
        let other = SQLiteOutboxStore(folder: folder.file("outbox"))
        #expect(try await other.lease(renewing: nil, at: Self.start).value() == nil)
        _ = try await store.release(lease).value()
        #expect(try await store.lease(renewing: lease, at: Self.start).value() == nil)
        #expect(try await store.lease(renewing: nil, at: Self.start).value()?.number == lease.number + 1)
    }

    /// A sender whose folder was removed, and made again by another process, sends no more.
    @Test func replacedFolder() async throws {
        let folder = try TemporaryFolder()
        let first = SQLiteOutboxStore(folder: folder.file("outbox"))
        let lease = try #require(await first.lease(renewing: nil, at: Self.start).value())
        _ = try await first.add(entry(1), Data()).value()
        try FileManager.default.removeItem(atPath: folder.file("outbox"))
        let second = SQLiteOutboxStore(folder: folder.file("outbox"))
        let next = try #require(await second.lease(renewing: nil, at: Self.start).value())
        // Not into the removed file.
        #expect(await code(first.add(entry(2), Data())) == "file")
        #expect(try await first.lease(renewing: lease, at: Self.start).value() == nil)
        #expect(try await first.lease(renewing: nil, at: Self.start).value() == nil)
        #expect(try await second.lease(renewing: next, at: Self.start).value() == next)
        _ = try await first.add(entry(3), Data()).value()
        #expect(try await second.load().value().entries.map(\.id.rawValue) == ["3"])
        // Both folders have counted from the start.
        #expect(next.number == lease.number)
        let late = first.change(.settle(OutboxID(rawValue: "3"), OutboxDelivery()), under: lease)
        #expect(try await late.value() == .leaseLost)
    }

    /// Missing folders above that of the store are made.
    @Test(arguments: ["a/b/outbox", "a/b//outbox/"])
    func newFolders(path: String) async throws {
        let folder = try TemporaryFolder()
        let store = SQLiteOutboxStore(folder: folder.file(path))
        _ = try await store.add(entry(1), Data()).value()
        #expect(FileManager.default.fileExists(atPath: folder.file("a/b/outbox/outbox.sqlite")))
    }

    /// An entry that is too large fails alone, not those beside it.
    @Test func tooLarge() async throws {
        let folder = try TemporaryFolder()
        let store = SQLiteOutboxStore(folder: folder.file("outbox"))
        _ = try await store.load().value()
        // SQLite accepts no blob of more than 1,000,000,000 bytes.
        let entries = [entry(1), entry(2), entry(3)]
        let contents = [Data("a".utf8), Data(count: 1_000_000_001), Data("c".utf8)]
        let results = await withTaskGroup(of: (Int, String?).self) { group in
            for (index, entry) in entries.enumerated() {
                group.addTask { (index, await code(store.add(entry, contents[index]))) }
            }
            return await group.reduce(into: [Int: String]()) { $0[$1.0] = $1.1 }
        }
        #expect(results == [1: "file"])
        #expect(Set(try await store.load().value().entries.map(\.id.rawValue)) == ["1", "3"])
    }
}
#endif
