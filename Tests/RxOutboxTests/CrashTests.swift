#if Outbox
import Foundation
import RxLite
import RxOutbox
import RxTesting
import Synchronization
import TestServers
import Testing

/// A program that is killed again and again (`kill -9`), and servers that remember keys.
@Suite(.timeLimit(.minutes(60))) struct CrashTests {
    /// How often it is killed; Tests/outbox.sh sets more.
    static let killCount = environment("OUTBOX_KILLS").flatMap { Int($0) } ?? 120
    /// The program; Tests/outbox.sh names an optimized one.
    static let probePath = environment("OUTBOX_PROBE") ?? ChildProcess.product("outbox-probe")

    private static func environment(_ name: String) -> String? { ProcessInfo.processInfo.environment[name] }

    /// Programs on one folder, and their server.
    struct Lane: Sendable, CustomTestStringConvertible {
        var kind: CrashShop.Kind
        /// The mode of the probe.
        var mode: String
        var processCount = 1
        /// The percentage of the kills.
        var share: Int
        var seed: UInt64

        /// The kills, one after another and again.
        var kills: [CrashKill] {
            if processCount == 1 { return [.start, .open, .add, .begin, .exchange, .settle, .add, .settle] }
            let kills: [CrashKill] = [
                .takeover, .begin, .standby, .exchange, .takeover, .add, .settle, .open,
            ]
            // A standby must live until the sender dies.
            return kills.map { kill in
                var kill = kill
                kill.asSender = kill != .standby
                return kill
            }
        }

        var testDescription: String { "\(kind) server, \(mode), \(processCount) at once" }

        static let all = [
            Lane(kind: .stripe, mode: "machine", share: 40, seed: 3),
            Lane(kind: .stripe, mode: "process", share: 20, seed: 5),
            Lane(kind: .stripe, mode: "machine", processCount: 2, share: 25, seed: 7),
            Lane(kind: .forgetful, mode: "forgetful", share: 15, seed: 11),
        ]
    }

    private final class SharedJournal: Sendable {
        let contents = Mutex(CrashJournal())
    }

    /// The distance between the first numbers of two programs.
    private static let span = 1_000_000

    /// A program that is killed anywhere loses no order, sends none under two keys, and keeps the order of accounts: that in
    /// which the orders of all programs became durable. Of two programs, the other one takes over.
    @Test(arguments: Lane.all) func killed(_ lane: Lane) async throws {
        let folder = try TemporaryFolder()
        let path = folder.file("outbox")
        let shop = try CrashShop(lane.kind, seed: lane.seed)
        let shared = SharedJournal()
        let kills = max(Self.killCount * lane.share / 100, 16)
        try await withThrowingTaskGroup(of: Void.self) { group in
            for place in 0..<lane.processCount {
                group.addTask {
                    var random = SeededRandom(lane.seed &* 1000 &+ UInt64(place))
                    for turn in 0..<(kills / lane.processCount) {
                        let first = shared.contents.withLock { journal in
                            journal.startCount += 1
                            return journal.startCount * Self.span
                        }
                        let kill = lane.kills[(turn * lane.processCount + place) % lane.kills.count]
                        let probe = try ChildProcess(
                            Self.probePath,
                            ["fill", path, shop.server.baseURL, "\(first)", lane.mode]
                                + kill.arguments(&random))
                        let record = try await probe.ended()
                        #expect(record.ending == .signalled(SIGKILL), "\(kill) \(record.errorText)")
                        #expect(record.errorText.isEmpty, "\(record.errorText)")
                        shared.contents.withLock { $0.read(record.text) }
                    }
                }
            }
            try await group.waitForAll()
        }
        let drain = try ChildProcess(Self.probePath, ["drain", path, shop.server.baseURL, lane.mode])
        let last = try await drain.ended()
        let dead = try await deadLetters(path)
        let line = shared.contents.withLock { $0.readLast(last.text) }
        #expect(line == "left 0 \(dead.count)", "\(line ?? "") \(last.errorText)")
        check(shop, lane, shared.contents.withLock { $0 }, dead)
    }

    /// The dead letters by the numbers of their orders.
    private func deadLetters(_ folder: String) async throws -> [Int: DeadReason] {
        struct Order: Decodable { var number: Int }
        let store = SQLiteOutboxStore(folder: folder)
        var letters: [Int: DeadReason] = [:]
        for entry in try await store.load().value().entries {
            let content = try #require(await store.content(of: entry.id).value())
            let number = try JSONDecoder().decode(Order.self, from: content).number
            #expect(entry.delivery.deadReason != nil, "order \(number) is left")
            letters[number] = entry.delivery.deadReason
        }
        return letters
    }

    /// Checks what the server has executed against what the programs were promised.
    private func check(_ shop: CrashShop, _ lane: Lane, _ journal: CrashJournal, _ dead: [Int: DeadReason]) {
        let executions = shop.ledger.executions
        let executed = Set(executions.map(\.number))
        // An order that was durable without a report may have been executed as well.
        let lost = journal.promised.subtracting(executed).subtracting(dead.keys)
        #expect(lost.isEmpty, "lost")
        #expect(executed.count == executions.count, "executed twice")
        #expect(shop.ledger.violations.isEmpty)
        // A dead letter has a reason: its key is answered with 500, or has grown old.
        for (number, reason) in dead {
            switch reason {
            case .refused: #expect(shop.ledger.broken.contains(number), "\(number): \(reason)")
            case .keyExpired: #expect(lane.kind == .forgetful, "\(number): \(reason)")
            default: Issue.record("\(number): \(reason)")
            }
        }
        for (account, executions) in Dictionary(grouping: executions, by: \.account) {
            let sequences = executions.compactMap { journal.sequences[$0.key] }
            #expect(sequences.count == executions.count, "account \(account): unknown orders")
            #expect(sequences == sequences.sorted(), "account \(account) is out of order")
        }
        #expect(!journal.promised.isEmpty)
        // Kills that do not strike where they should prove nothing.
        var places = Set(lane.kills.map(\.place))
        // With few kills no program need ever have found another one as the sender.
        if Self.killCount < 1000 { places.remove(CrashKill.standby.place) }
        #expect(places.subtracting(journal.armed.keys) == [])
        if lane.processCount > 1 { #expect(journal.takeoverCount > 0) }
        if Self.killCount >= 1000 {
            #expect(shop.ledger.count(of: "repeated") > 0 && shop.ledger.count(of: "conflict") > 0)
            #expect(Set(["add", "begin", "exchange", "settle"]).subtracting(journal.interrupted.keys) == [])
            if lane.processCount > 1 { #expect(journal.interrupted["takeover", default: 0] > 0) }
            if lane.kind == .forgetful {
                #expect(dead.values.contains { if case .keyExpired = $0 { true } else { false } })
            }
            print(
                """
                \(lane.testDescription): \(journal.startCount) kills, \(journal.promised.count) orders promised, \
                \(executions.count) executed, \(dead.count) dead letters, \(lost.count) lost, \
                \(shop.ledger.count(of: "repeated")) answers repeated, \(shop.ledger.count(of: "conflict")) \
                conflicts
                \(journal.coverage)
                """)
        }
    }

    private static func canMount() async throws -> Bool {
        let script = "mkdir -p \"$F\" && mount -t tmpfs -o size=64k none \"$F\""
        return try await onDisk(script, TemporaryFolder()).ending == .exited(0)
    }

    private static func onDisk(
        _ script: String, _ folder: TemporaryFolder
    ) async throws -> ChildProcess.Record {
        let child = try ChildProcess(
            "/usr/bin/env", ["unshare", "-m", "sh", "-c", script],
            environment: [
                "PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "F": folder.file("disk"),
                "PROBE": probePath,
            ])
        child.closeInput()
        return try await child.ended()
    }

    /// A full disk takes no more entries and loses none, and takes more once there is room.
    @Test(.enabled("needs the right to mount a file system") { try await canMount() })
    func fullDisk() async throws {
        let record = try await Self.onDisk(
            """
            mkdir "$F" && mount -t tmpfs -o size=2m,mode=700 none "$F" && head -c 500000 /dev/zero >"$F/filler" &&
            "$PROBE" full "$F/outbox" "$F/filler"
            """, TemporaryFolder())
        #expect(record.ending == .exited(0), "\(record.text) \(record.errorText)")
        let lines = record.text.split(separator: "\n").map(String.init)
        try #require(lines.count == 2, "\(record.text) \(record.errorText)")
        #expect(try #require(Int(lines[0].dropFirst("stored ".count))) > 10)
        // As many as were reported to be stored.
        #expect(lines[1] == "entries 0")
    }

    /// Entries that are written at the same time share their transactions.
    @Test func groups() async throws {
        let folder = try TemporaryFolder()
        let probe = try ChildProcess(
            Self.probePath, ["count", folder.file("outbox"), "2000", "machine"])
        let record = try await probe.ended()
        #expect(record.text.hasPrefix("enqueued 2000 "), "\(record.text) \(record.errorText)")
        let store = SQLiteOutboxStore(folder: folder.file("outbox"))
        #expect(try await store.load().value().entries.count == 2000)
    }
}
#endif
