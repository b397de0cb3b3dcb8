#if Outbox
import Foundation
import RxLite
import RxOutbox
import RxTesting
import Synchronization
import TestServers
import Testing

/// A program that is killed again and again, and a server that remembers keys as Stripe does.
@Suite(.timeLimit(.minutes(60))) struct CrashTests {
    /// How often it is killed; Tests/outbox.sh sets more.
    static let killCount = ProcessInfo.processInfo.environment["OUTBOX_KILLS"].flatMap { Int($0) } ?? 120

    /// Random numbers from 0 to 19.
    private final class Moods: Sendable {
        private let random: Mutex<SeededRandom>

        init(seed: UInt64) { random = Mutex(SeededRandom(seed)) }

        func next() -> Int { random.withLock { Int.random(in: 0..<20, using: &$0) } }
    }

    /// A server that executes orders, and sometimes keeps the answer to itself.
    private final class Shop: Sendable {
        let ledger = KeyLedger()
        let server: RawServer

        init(seed: UInt64) throws {
            let (moods, ledger) = (Moods(seed: seed), ledger)
            server = try RawServer { request in
                let mood = moods.next()
                // Refused before anything is executed.
                if mood == 0 {
                    return [.send(Array("HTTP/1.1 503 Busy\r\nContent-Length: 0\r\n\r\n".utf8))]
                }
                if mood == 1 { return [.reset] }
                let reply = ledger.receive(key: request.field("Idempotency-Key"), body: request.body)
                // Executed, and the answer is lost.
                if mood == 2 { return [.reset] }
                if mood == 3 {
                    return [.send(Array("HTTP/1.1 200 OK\r\nContent-Length: 90\r\n\r\n{".utf8)), .close]
                }
                guard case .done(let number) = reply else {
                    return [.send(Array("HTTP/1.1 400 No\r\nContent-Length: 0\r\n\r\n".utf8))]
                }
                let body = "{\"number\":\(number)}"
                return [
                    .send(
                        Array(
                            "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: \(body.utf8.count)\r\n\r\n\(body)"
                                .utf8))
                ]
            }
        }
    }

    private func probe(_ arguments: String...) throws -> ChildProcess {
        try ChildProcess(ChildProcess.product("outbox-probe"), arguments)
    }

    /// Checks what the server has executed against what the program was promised.
    private func check(_ ledger: KeyLedger, promised: Set<Int>) {
        let executions = ledger.executions
        // An order that was durable without a report may have been executed as well.
        #expect(promised.subtracting(executions.map(\.number)).isEmpty, "lost")
        #expect(Set(executions.map(\.number)).count == executions.count, "executed twice")
        #expect(Set(executions.map(\.key)).count == executions.count)
        for account in Set(executions.map(\.account)) {
            let numbers = executions.filter { $0.account == account }.map(\.number)
            #expect(numbers == numbers.sorted(), "account \(account) is out of order")
        }
    }

    /// A program that is killed at any moment loses no order, sends none twice, and keeps the order of
    /// accounts.
    @Test func killed() async throws {
        let folder = try TemporaryFolder()
        let shop = try Shop(seed: 3)
        var random = SeededRandom(17)
        var promised: Set<Int> = []
        var first = 0
        for round in 0..<Self.killCount {
            let probe = try probe("fill", folder.file("outbox"), shop.server.baseURL, "\(first)")
            for _ in 0..<Int.random(in: 0..<12, using: &random) {
                let line = try #require(await probe.nextLine(), "round \(round)")
                let number = try #require(Int(line.split(separator: " ").last ?? ""), "\(line)")
                promised.insert(number)
            }
            let record = try await probe.kill()
            // The lines that were written before the kill count, too.
            for line in record.text.split(separator: "\n") {
                if let number = Int(line.split(separator: " ").last ?? "") { promised.insert(number) }
            }
            #expect(record.errorText.isEmpty, "\(record.errorText)")
            // An order that was durable without a report has its number.
            first = (promised.max() ?? -1) + 2
        }
        let last = try await probe("drain", folder.file("outbox"), shop.server.baseURL).ended()
        #expect(last.text == "left 0 0\n", "\(last.text) \(last.errorText)")
        check(shop.ledger, promised: promised)
        #expect(!promised.isEmpty)
    }

    /// Two programs on one store: one sends; the other takes over when it is killed.
    @Test func twoPrograms() async throws {
        let folder = try TemporaryFolder()
        let shop = try Shop(seed: 5)
        var random = SeededRandom(23)
        var promised: Set<Int> = []
        var first = 0
        func collect(_ record: ChildProcess.Record) {
            for line in record.text.split(separator: "\n") {
                if let number = Int(line.split(separator: " ").last ?? "") { promised.insert(number) }
            }
        }
        var survivor = try probe("fill", folder.file("outbox"), shop.server.baseURL, "\(first)")
        for _ in 0..<10 {
            first += 1_000_002
            let other = try probe("fill", folder.file("outbox"), shop.server.baseURL, "\(first)")
            for _ in 0..<Int.random(in: 1..<12, using: &random) { _ = try await other.nextLine() }
            // The sender is among the two; whichever it is, it is killed now or in the next round.
            collect(try await survivor.kill())
            survivor = other
        }
        collect(try await survivor.kill())
        let last = try await probe("drain", folder.file("outbox"), shop.server.baseURL).ended()
        #expect(last.text == "left 0 0\n", "\(last.text) \(last.errorText)")
        let executions = shop.ledger.executions
        #expect(promised.subtracting(executions.map(\.number)).isEmpty, "lost")
        #expect(Set(executions.map(\.number)).count == executions.count, "executed twice")
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
                "PROBE": ChildProcess.product("outbox-probe"),
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
        let record = try await probe("count", folder.file("outbox"), "2000").ended()
        #expect(record.text.hasPrefix("seconds "), "\(record.text) \(record.errorText)")
        let store = SQLiteOutboxStore(folder: folder.file("outbox"))
        #expect(try await store.load().value().entries.count == 2000)
    }
}
#endif
