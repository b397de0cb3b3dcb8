#if DiskCache
import FoundationEssentials
import RxCache
import RxDiskCache
import RxHTTP
import RxLite
import TestServers

@testable import disk_cache_probe

extension CacheStore {
    func put(_ entry: CacheEntry) async throws { _ = try await store(entry).value() }

    func found(_ key: CacheKey) async throws -> [CacheEntry] {
        try await entries(for: key).value()
    }

    /// The numbers of the sample entries in the store, by key; throws for an incomplete one.
    func numbers() async throws -> [Int: Int] {
        var numbers: [Int: Int] = [:]
        for key in 0..<SampleEntry.keyCount {
            for entry in try await found(SampleEntry.key(key)) {
                guard SampleEntry.isWhole(entry) else { throw NotWhole(key: key) }
                numbers[key] = SampleEntry.number(of: entry)
            }
        }
        return numbers
    }
}

/// An entry was found that was never stored.
struct NotWhole: Error {
    let key: Int
}

extension DiskCacheStore {
    /// The failures as one line; empty if there were none.
    var troubles: String {
        let all = statistics
        let counts = [
            all.failedLookups, all.failedChanges, all.brokenEntries, all.brokenDatabases,
        ]
        return counts == [0, 0, 0, 0] ? "" : "\(counts) \(all.lastFailure.map { "\($0)" } ?? "")"
    }
}

extension TemporaryFolder {
    /// The database in the folder.
    var database: String {
        get throws {
            guard let name = try names.first(where: { $0.hasSuffix(".sqlite") }) else {
                throw CocoaError(.fileNoSuchFile)
            }
            return file(name)
        }
    }
}

extension DiskCacheStore {
    /// A store that waits for other processes, however slow the machine is.
    convenience init(
        patient folder: TemporaryFolder, limit: Int = 256 << 20, entryLimit: Int? = nil,
        countLimit: Int = 10_000
    ) {
        self.init(
            folder: folder.path, limit: limit, entryLimit: entryLimit, countLimit: countLimit,
            patience: .seconds(300))
    }
}
#endif
