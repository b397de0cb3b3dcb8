#if DiskCache
import RxCache
import RxDiskCache
import RxLite
import RxTesting
import TestServers
import Testing

@testable import disk_cache_probe

@Suite(.timeLimit(.minutes(5))) struct CrashTests {
    private func probe(_ arguments: String...) throws -> ChildProcess {
        try ChildProcess(ChildProcess.product("disk-cache-probe"), arguments)
    }

    /// Killed at any moment: it continues while its output arrives here.
    /// A process killed while it writes loses no stored entry, and damages nothing.
    @Test func killed() async throws {
        let folder = try TemporaryFolder()
        var random = SeededRandom(11)
        for round in 0..<20 {
            let probe = try probe("fill", folder.path, "\(round)")
            var stored: [Int: Int] = [:]
            for _ in 0..<Int.random(in: 1..<60, using: &random) {
                let line = try #require(await probe.nextLine())
                let words = line.split(separator: " ").compactMap { Int($0) }
                try #require(words.count == 2)
                stored[words[0]] = words[1]
            }
            try await probe.kill()
            let store = DiskCacheStore(patient: folder)
            let numbers = try await store.numbers()
            // It may have stored more than it could report.
            #expect(stored.allSatisfy { key, number in (numbers[key] ?? -1) >= number })
            #expect(store.usage.entries == numbers.count)
            #expect(store.troubles == "")
            _ = try await store.remove(.all).value()
        }
    }

    /// Two processes storm one folder: nothing is damaged, and each entry is one that was stored.
    @Test func storm() async throws {
        let folder = try TemporaryFolder()
        let probes = try (1...2).map { try probe("storm", folder.path, "\($0)", "400") }
        for probe in probes {
            let record = try await probe.ended()
            #expect(record.ending == .exited(0), "\(record.text) \(record.errorText)")
            // Neither fails for another reason than a wait for the other one that was too long.
            let words = record.text.split(separator: " ").map(String.init)
            func number(_ name: String) throws -> Int {
                let place = try #require(words.firstIndex(of: name))
                return try #require(Int(words[place + 1]))
            }
            #expect(try number("wrong") == 0 && number("broken") == 0)
            #expect(try number("lookups") + number("failed") == number("busy"), "\(record.text)")
        }
        let store = DiskCacheStore(patient: folder)
        #expect(try await store.numbers().count == store.usage.entries)
        #expect(store.troubles == "")
    }

    /// One of the two is killed, again and again; the other continues.
    @Test func stormAndKill() async throws {
        let folder = try TemporaryFolder()
        var random = SeededRandom(5)
        let survivor = try probe("storm", folder.path, "1", "600")
        for seed in 2..<10 {
            let victim = try probe("fill", folder.path, "\(seed)")
            for _ in 0..<Int.random(in: 1..<30, using: &random) { _ = try await victim.nextLine() }
            try await victim.kill()
        }
        let record = try await survivor.ended()
        #expect(record.ending == .exited(0), "\(record.text) \(record.errorText)")
        #expect(record.text.contains("broken 0 "))
        let store = DiskCacheStore(patient: folder)
        #expect(try await store.numbers().count == store.usage.entries)
        #expect(store.troubles == "")
    }
}
#endif
