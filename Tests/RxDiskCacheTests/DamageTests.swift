#if DiskCache
import Foundation
import RxCache
import RxDiskCache
import RxLite
import RxTesting
import TestServers
import Testing

@testable import disk_cache_probe

/// Files on the disk that differ from the store's.
@Suite(.timeLimit(.minutes(5))) struct DamageTests {
    /// The files of a store that has closed them: all data is in the database.
    private static let closed = Task { try await files(isClosed: true) }
    /// The files of a store that has them open: much is in the log only.
    private static let open = Task { try await files(isClosed: false) }

    private static func files(isClosed: Bool) async throws -> [(String, [UInt8])] {
        let folder = try TemporaryFolder()
        let store = DiskCacheStore(patient: folder)
        for key in 0..<SampleEntry.keyCount {
            try await store.put(SampleEntry.make(key: key, number: key, size: key * 500))
        }
        if isClosed { _ = try await store.close().value() }
        return try folder.names.filter { $0 != "lock" }.map { ($0, try folder.content($0)) }
    }

    /// Opens the folder: each entry is complete or missing, and new entries are found.
    private func expectUsable(_ folder: TemporaryFolder, _ comment: String) async throws {
        let store = DiskCacheStore(patient: folder)
        let numbers = try await store.numbers()
        #expect(numbers.allSatisfy { $0 == $1 }, "\(comment)")
        try await store.put(SampleEntry.make(key: 5, number: 500, size: 5000))
        #expect(try await store.numbers()[5] == 500, "\(comment)")
        #expect(store.statistics.failedLookups == 0, "\(comment): \(store.troubles)")
        if store.statistics.brokenEntries + store.statistics.brokenDatabases == 0 {
            #expect(numbers.count >= SampleEntry.keyCount - 1 || comment.contains("-wal"), "\(comment)")
        }
        _ = try await store.close().value()
        // Replaced or removed entries are correct from then on.
        let next = DiskCacheStore(patient: folder)
        #expect(try await next.numbers()[5] == 500, "\(comment)")
    }

    /// Flipped bits.
    @Test(arguments: 1...30 as ClosedRange<UInt64>, [false, true])
    func flipped(seed: UInt64, isClosed: Bool) async throws {
        var random = SeededRandom(seed)
        let folder = try TemporaryFolder()
        let files = try await (isClosed ? Self.closed : Self.open).value
        let target = Int.random(in: 0..<files.count, using: &random)
        for (index, (name, content)) in files.enumerated() {
            var content = content
            if index == target {
                for _ in 0..<Int.random(in: 1...20, using: &random) {
                    // Half of them in the structure: at the beginning.
                    let range = Bool.random(using: &random) ? 4096 : content.count
                    content[Int.random(in: 0..<min(range, content.count), using: &random)] ^=
                        1 << UInt8.random(in: 0..<8, using: &random)
                }
            }
            _ = try folder.file(name, content)
        }
        try await expectUsable(folder, "seed \(seed), \(files[target].0)")
    }

    /// Truncated files.
    @Test(arguments: 1...15 as ClosedRange<UInt64>, [false, true])
    func truncated(seed: UInt64, isClosed: Bool) async throws {
        var random = SeededRandom(seed)
        let folder = try TemporaryFolder()
        let files = try await (isClosed ? Self.closed : Self.open).value
        let target = Int.random(in: 0..<files.count, using: &random)
        for (index, (name, content)) in files.enumerated() {
            let count = index == target ? Int.random(in: 0..<content.count, using: &random) : content.count
            _ = try folder.file(name, Array(content.prefix(count)))
        }
        try await expectUsable(folder, "seed \(seed), \(files[target].0)")
    }
}
#endif
