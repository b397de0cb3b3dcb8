#if Fleet
import Foundation
import GRDB
import RxClient
import RxHTTP
import RxLite
import RxSQLite
import RxTesting
import TestServers
import Testing

@testable import RxFleet

/// The store of the processes of one machine: its contract, its files, its clock, and what wakes its waiters.
@Suite(.timeLimit(.minutes(5))) struct FileStoreTests {
    private let fixture: FileStoreFixture
    private let subject: StoreSubject

    init() throws {
        fixture = try FileStoreFixture()
        subject = fixture.subject
    }

    @Test(arguments: SharedStoreContract.allCases)
    func contract(_ check: SharedStoreContract) async throws { try await check.check(subject) }

    private func code<Value: Sendable>(_ stream: Observable<Value, NetworkError>) async -> NetworkError.Code?
    {
        do {
            _ = try await stream.value()
            return nil
        } catch { return error.code }
    }

    /// A closed store with some content.
    private func fill() async throws {
        let store = fixture.store()
        for number in 0..<20 {
            let bytes = [UInt8](repeating: UInt8(number), count: 400)
            _ = try await store.swap("k\(number)", to: bytes, expecting: .any, under: nil, for: nil).value()
        }
        let granted = try await subject.granted(store, "a")
        granted.journal.cancel()
        try await fixture.closeAll()
    }

    private func data(_ name: String = "fleet.sqlite") throws -> Data {
        try Data(contentsOf: URL(filePath: fixture.path + "/" + name))
    }

    // MARK: - Files

    /// The files belong to their user alone.
    @Test func permissions() async throws {
        let store = fixture.store()
        _ = try await store.read("a").value()
        for (name, mode) in [
            ("", 0o700), ("fleet.sqlite", 0o600), ("lock", 0o600), ("stores", 0o700), ("stores/bell", 0o600),
        ] {
            let attributes = try FileManager.default.attributesOfItem(atPath: fixture.path + "/" + name)
            #expect((attributes[.posixPermissions] as? NSNumber)?.intValue == mode, "\(name)")
        }
        try FileManager.default.setAttributes([.posixPermissions: 0o777], ofItemAtPath: fixture.path)
        #expect(await code(fixture.store().read("a")) == .untrustedFile)
    }

    /// A file that is cut off anywhere is refused by all commands, and stays as it is.
    @Test(arguments: 0..<8)
    func truncated(part: Int) async throws {
        try await fill()
        let content = try data()
        let cut = content.prefix(content.count * part / 8)
        try cut.write(to: URL(filePath: fixture.database))
        let store = fixture.store()
        let found = await code(store.read("k3"))
        #expect(found == .corruptStore || part > 4 && found == nil, "\(String(describing: found))")
        guard found != nil else { return }
        #expect(await code(store.publish([1], to: "a")) == .corruptStore)
        #expect(await code(store.lease("a", for: .seconds(1))) == .corruptStore)
        let messages = Journal(store.messages(of: "a"))
        try await subject.until { !messages.values.isEmpty }
        #expect(messages.values == [.disconnected])
        _ = try await store.close().value()
        #expect(try data() == cut)
    }

    /// A flipped bit anywhere traps nowhere.
    @Test(arguments: 0..<40)
    func flipped(seed: Int) async throws {
        try await fill()
        var random = SeededRandom(UInt64(seed))
        var content = [UInt8](try data())
        content[Int.random(in: 0..<content.count, using: &random)] ^= UInt8(1) << UInt8(seed % 8)
        try Data(content).write(to: URL(filePath: fixture.database))
        let store = fixture.store()
        for number in 0..<20 { _ = await code(store.read("k\(number)")) }
        _ = await code(store.swap("k3", to: [1], expecting: .any, under: nil, for: .seconds(1)))
        _ = await code(store.take(1, from: "b", SharedBudget(perSecond: 1, burst: 1)))
        let lease = Journal(store.lease("a", for: .seconds(1)))
        try await subject.until { !lease.values.isEmpty || lease.hasEnded }
        lease.cancel()
        _ = await code(store.publish([1], to: "a"))
    }

    /// Values of other types than were written are errors, not traps.
    @Test(arguments: [
        "UPDATE counter SET version = 'x'", "UPDATE counter SET version = -5",
        "UPDATE entry SET version = 'x'",
        "UPDATE entry SET version = -5", "UPDATE lease SET fence = -5", "UPDATE lease SET fence = x'00'",
        "UPDATE lease SET end = 'x'", "UPDATE lease SET end = 9223372036854775807", "DELETE FROM counter",
        "UPDATE origin SET boot = x'00'", "INSERT INTO origin VALUES (1, 2)",
        "INSERT INTO budget VALUES (x'62', 9223372036854775807)",
        "INSERT INTO budget VALUES (x'62', -9223372036854775808)",
        "INSERT INTO message (channel, end, bytes) VALUES (1, 'x', 2)",
        "INSERT INTO waiter (lease, store, request, isLate) VALUES (x'61', 'x/../y', 'z', 0)",
        "UPDATE entry SET end = 'x'", "UPDATE counter SET removedMessage = 9223372036854775807",
    ])
    func wrongValues(_ sql: String) async throws {
        try await fill()
        let queue = try DatabaseQueue(path: fixture.database)
        try await queue.write { db in try db.execute(sql: sql) }
        try queue.close()
        for boot in ["boot 1", "boot 2"] {
            let store = fixture.store(boot: boot)
            let messages = Journal(store.messages(of: "a"))
            _ = await code(store.read("k3"))
            _ = await code(store.swap("k3", to: [1], expecting: .any, under: nil, for: .seconds(1)))
            let lease = SharedLease(name: "a", fence: .max)
            _ = await code(store.swap("k3", to: [1], expecting: .exactly(.max), under: lease, for: nil))
            _ = await code(store.take(1, from: "b", SharedBudget(perSecond: 1, burst: 1)))
            _ = await code(store.publish([1], to: "a"))
            let granted = Journal(store.lease("a", for: .seconds(1)))
            try await fixture.settle()
            granted.cancel()
            messages.cancel()
            _ = try await store.close().value()
        }
    }

    /// A file that is no database, and the databases of other programs, are refused, and no byte of them changes.
    @Test(arguments: ["text", "empty", "wal", "delete"])
    func foreign(_ kind: String) async throws {
        try FileManager.default.createDirectory(
            atPath: fixture.path, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        switch kind {
        case "text": try Data("not a database at all".utf8).write(to: URL(filePath: fixture.database))
        case "empty": try Data().write(to: URL(filePath: fixture.database))
        default:
            let queue = try DatabaseQueue(path: fixture.database)
            try await queue.writeWithoutTransaction { db in
                try db.execute(sql: "PRAGMA journal_mode = \(kind); CREATE TABLE other (a)")
            }
            try queue.close()
        }
        let content = try data()
        let store = fixture.store()
        #expect(await code(store.read("a")) == .corruptStore)
        #expect(await code(store.swap("a", to: [1], expecting: .any, under: nil, for: nil)) == .corruptStore)
        _ = try await store.close().value()
        #expect(try data() == content)
    }

    /// A store with other tables, and one of another version of the library, are refused and kept.
    @Test(arguments: [
        ("CREATE TABLE other (a)", NetworkError.Code.corruptStore),
        ("ALTER TABLE entry ADD COLUMN later; PRAGMA user_version = 2", .laterFormat),
        ("PRAGMA user_version = 0", .laterFormat), ("PRAGMA application_id = 1", .corruptStore),
    ])
    func otherVersions(_ sql: String, _ expected: NetworkError.Code) async throws {
        try await fill()
        let queue = try DatabaseQueue(path: fixture.database)
        try await queue.write { db in try db.execute(sql: sql) }
        try queue.close()
        let content = try data()
        let store = fixture.store()
        #expect(await code(store.read("k3")) == expected)
        _ = try await store.close().value()
        #expect(try data() == content)
    }

    /// A log without its database is not taken for a new store.
    @Test func logWithoutDatabase() async throws {
        try await fill()
        try FileManager.default.moveItem(atPath: fixture.database, toPath: fixture.database + "-wal")
        #expect(await code(fixture.store().read("a")) == .corruptStore)
        #expect(!FileManager.default.fileExists(atPath: fixture.database))
    }

    /// A database that was removed is not silently replaced while it is in use.
    @Test func removed() async throws {
        let store = fixture.store()
        _ = try await store.read("a").value()
        try FileManager.default.removeItem(atPath: fixture.database)
        #expect(await code(store.read("a")) == .file)
    }

    /// A draft that was left by a killed process is replaced.
    @Test func leftDraft() async throws {
        try await fill()
        for name in ["fleet.sqlite", "fleet.sqlite-wal", "fleet.sqlite-shm"]
        where FileManager.default.fileExists(atPath: fixture.path + "/" + name) {
            try FileManager.default.removeItem(atPath: fixture.path + "/" + name)
        }
        try Data("half of a database".utf8).write(to: URL(filePath: fixture.path + "/fleet.new"))
        #expect(try await subject.text(fixture.store(), "k3") == nil)
    }

    /// The file of a process that was killed while it entered is removed, unlike that of one which still enters.
    @Test func leftMember() async throws {
        _ = try await fixture.store().read("a").value()
        let folder = SQLiteFolder(path: fixture.path + "/stores", patience: .zero)
        let (left, entering) = (try folder.lock("new-left"), try folder.lock("new-entering"))
        try #require(left).release()
        _ = try await fixture.store().read("a").value()
        let names = try FileManager.default.contentsOfDirectory(atPath: folder.path)
        #expect(names.filter { $0.hasPrefix("new-") } == ["new-entering"])
        try #require(entering).release()
    }

    // MARK: - Time

    /// After a start of the machine all leases have ended, and lifetimes and budgets continue by the date.
    @Test func reboot() async throws {
        let store = fixture.store()
        _ = try await subject.swap(store, "short", "1", for: .seconds(60))
        _ = try await subject.swap(store, "long", "2", for: .seconds(600))
        let version = try await subject.write(store, "kept", "3")
        let budget = SharedBudget(perSecond: 0.01, burst: 2)
        #expect(try await subject.value(of: store.take(2, from: "b", budget)).isLimited == false)
        let granted = try await subject.granted(store, "a", for: .seconds(3000))
        _ = try await subject.value(of: store.publish([1], to: "m"))
        let content = try [data(), data("fleet.sqlite-wal")]
        try await fixture.closeAll()
        // As the files were when the machine ended, with the lease.
        try content[0].write(to: URL(filePath: fixture.database))
        try content[1].write(to: URL(filePath: fixture.database + "-wal"))
        fixture.reboot(after: .seconds(120))
        let next = fixture.store(boot: "boot 2")
        #expect(try await subject.text(next, "short") == nil)
        #expect(try await subject.text(next, "long") == "2")
        #expect(try await subject.value(of: next.read("kept"))?.version == version)
        let reply = try await subject.value(of: next.take(2, from: "b", budget))
        #expect(reply.isLimited && reply.remaining == 1)
        let later = try await subject.granted(next, "a")
        #expect(later.lease.fence > granted.lease.fence)
        #expect(try await subject.swap(next, "kept", "late", under: granted.lease) == .fenced)
        try await fixture.pass(.seconds(500), step: .seconds(50))
        #expect(try await subject.text(next, "long") == nil)
        granted.journal.cancel()
    }

    /// Setting the clock changes nothing.
    @Test func dateIsSet() async throws {
        let store = fixture.store()
        _ = try await subject.swap(store, "a", "1", for: .seconds(60))
        let granted = try await subject.granted(store, "l")
        fixture.setDate(by: .seconds(86400 * 365))
        #expect(try await subject.text(store, "a") == "1")
        fixture.setDate(by: .seconds(-86400 * 700))
        try await fixture.pass(.seconds(50), step: .milliseconds(500))
        #expect(try await subject.text(fixture.store(), "a") == "1")
        #expect(!granted.journal.hasEnded)
        granted.journal.cancel()
    }

    // MARK: - Waking

    /// A store that has been closed, or whose process has ended, ends its leases at once, without a lapse of time.
    @Test func closedHolder() async throws {
        let (one, two) = (fixture.store(), fixture.store())
        let first = try await subject.granted(one, "a")
        let second = Journal(two.lease("a", for: .seconds(3)))
        try await fixture.settle()
        _ = try await one.close().value()
        try await subject.until { !second.values.isEmpty }
        #expect(first.journal.failure?.code == .shutDown)
        #expect(await code(one.read("a")) == .shutDown)
        second.cancel()
    }

    /// A store that is released closes its files, and its leases end.
    @Test func releasedHolder() async throws {
        let waiting = fixture.store()
        do {
            let store = fixture.store()
            let granted = try await subject.granted(store, "a")
            granted.journal.cancel()
            fixture.forget(store)
        }
        let granted = try await subject.granted(waiting, "a")
        granted.journal.cancel()
    }

    /// A store whose only request has stopped waiting sleeps, also while the lease goes on.
    @Test func cancelledWaiter() async throws {
        let (one, two) = (fixture.store(), fixture.store(checkInterval: .seconds(5)))
        let holder = try await subject.granted(one, "a", for: .seconds(60))
        let waiting = Journal(two.lease("a", for: .seconds(3)))
        try await fixture.settle()
        waiting.cancel()
        try await fixture.pass(.seconds(6), step: .milliseconds(500))
        let deadlines = Board<[Duration?]>([])
        two.thread.run { state in
            deadlines.update { $0.append(state.deadline) }
        } refuse: { _ in
        }
        try await fixture.settle()
        let deadline = try #require(deadlines.contents.first)
        #expect(deadline.map { $0 > fixture.now } ?? true, "\(String(describing: deadline)) is past")
        holder.journal.cancel()
    }

    /// A change without an announcement is found at the next check.
    @Test func lostWake() async throws {
        let store = fixture.store(checkInterval: .seconds(5))
        let messages = Journal(store.messages(of: "m"))
        try await subject.until { messages.values == [.connected] }
        // As by a process that was killed before it could wake the others.
        let queue = try DatabaseQueue(path: fixture.database)
        try await queue.write { db in
            try db.execute(
                sql: "INSERT INTO message (channel, end, bytes) VALUES (x'6D', 9000000000000000, x'07')")
        }
        try queue.close()
        try await fixture.pass(.seconds(6))
        try await subject.until { messages.values.count == 2 }
        #expect(messages.values.last == .message([7]))
    }

    /// A process that was stopped for long learns that it has missed messages.
    @Test func missedMessages() async throws {
        let (one, two) = (fixture.store(), fixture.store())
        let messages = Journal(one.messages(of: "m"))
        try await subject.until { messages.values == [.connected] }
        fixture.stop(one)
        _ = try await subject.value(of: two.publish([1], to: "m"))
        fixture.leap(.seconds(70))
        for _ in 0..<40 { _ = try await subject.value(of: two.publish([2], to: "m")) }
        fixture.resume(one)
        try await subject.until { messages.values.count >= 3 }
        #expect(messages.values.prefix(3) == [.connected, .disconnected, .connected])
        #expect(!messages.values.contains(.message([1])))
        _ = try await subject.value(of: two.publish([3], to: "m"))
        try await subject.until { messages.values.last == .message([3]) }
    }

    /// One that is stopped in the queue is passed over after a while, and gets its turn when it runs again.
    @Test func stoppedWaiter() async throws {
        let stores = [fixture.store(), fixture.store(), fixture.store()]
        let holder = try await subject.granted(stores[0], "a")
        let stopped = Journal(stores[1].lease("a", for: .seconds(3)))
        try await fixture.settle()
        let next = Journal(stores[2].lease("a", for: .seconds(3)))
        try await fixture.settle()
        fixture.stop(stores[1])
        holder.journal.cancel()
        try await fixture.pass(.milliseconds(900))
        #expect(next.values.isEmpty, "the turn of the other")
        try await fixture.pass(.milliseconds(200))
        try await subject.until { !next.values.isEmpty }
        let last = Journal(stores[0].lease("a", for: .seconds(3)))
        try await fixture.settle()
        fixture.resume(stores[1])
        try await fixture.settle()
        next.cancel()
        try await subject.until { !stopped.values.isEmpty }
        #expect(last.values.isEmpty)
        stopped.cancel()
        try await subject.until { !last.values.isEmpty }
        last.cancel()
    }

    /// In real time: leases, messages and lifetimes by the clock of the system.
    @Test func systemClock() async throws {
        let folder = fixture.folder.file("real")
        let (one, two) = (FileStore(folder: folder), FileStore(folder: folder))
        let first = try await subject.granted(one, "a", for: .milliseconds(300))
        let second = Journal(two.lease("a", for: .milliseconds(300)))
        _ = try await subject.swap(one, "short", "1", for: .milliseconds(50))
        while try await subject.text(two, "short") != nil {}
        #expect(second.values.isEmpty && !first.journal.hasEnded)
        first.journal.cancel()
        try await subject.until { !second.values.isEmpty }
        let messages = Journal(two.messages(of: "m"))
        try await subject.until { !messages.values.isEmpty }
        _ = try await subject.value(of: one.publish([1], to: "m"))
        try await subject.until { messages.values.count == 2 }
        second.cancel()
    }
}
#endif
