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
        let queue = try DatabaseQueue(path: path)
        try await queue.write { db in
            try db.execute(sql: "ALTER TABLE entry ADD COLUMN later; PRAGMA user_version = 2")
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
        #expect(found == [2, 20])
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
        _ = try await first?.close().value()
        let next = try #require(await second.lease(renewing: nil, at: Self.start).value())
        #expect(next.number > lease.number)
        #expect(try await first?.lease(renewing: lease, at: Self.start).value() == .some(nil))
        first = nil
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
