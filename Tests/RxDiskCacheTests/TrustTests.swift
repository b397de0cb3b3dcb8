#if DiskCache
import Foundation
import RxCache
import RxDiskCache
import RxHTTP
import RxLite
import TestServers
import Testing

@testable import disk_cache_probe

/// Folders that other users can access, and the content of the store's files.
@Suite struct TrustTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    private func failure(_ store: DiskCacheStore) async -> NetworkError.Code? {
        await #expect(throws: NetworkError.self) {
            try await store.put(SampleEntry.make(key: 1, number: 1, size: 10))
        }?.code
    }

    /// A folder that others can write to is refused.
    @Test(arguments: [0o777, 0o770, 0o702])
    func mode(mode: Int) async throws {
        try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: folder.path)
        let store = DiskCacheStore(patient: folder)
        #expect(await failure(store) == .untrustedFile)
        #expect(try await store.found(SampleEntry.key(1)).isEmpty)
        #expect(store.statistics.lastFailure?.code == .untrustedFile)
        #expect(try folder.names == [])
    }

    /// A folder of another user is refused.
    @Test func foreignFolder() async throws {
        // Only root could write to it.
        var path = "/usr"
        if geteuid() == 0 {
            path = folder.path
            try #require(unsafe chown(path, 65_534, 65_534) == 0)
        }
        #expect(await failure(DiskCacheStore(folder: path)) == .untrustedFile)
    }

    /// A database of another user, or its lock, is refused and stays.
    @Test(arguments: ["lock", "database"])
    func foreignFile(name: String) async throws {
        // Only root can change the owner of a file.
        guard geteuid() == 0 else { return }
        let store = DiskCacheStore(patient: folder)
        try await store.put(SampleEntry.make(key: 1, number: 1, size: 10))
        _ = try await store.close().value()
        let path = name == "lock" ? folder.file("lock") : try folder.database
        try #require(unsafe chown(path, 65_534, 65_534) == 0)
        #expect(await failure(store) == .untrustedFile)
        #expect(FileManager.default.fileExists(atPath: path))
    }

    /// Accounts and requests are stored as salted hashes.
    @Test func salt() async throws {
        var entry = SampleEntry.make(key: 1, number: 1, size: 10)
        entry.metadata.key.identity = "account cAnArY7"
        entry.metadata.key.content = "cAnArY7digest"
        let key = entry.metadata.key
        var store = DiskCacheStore(patient: folder)
        try await store.put(entry)
        _ = try await store.close().value()
        for name in try folder.names {
            #expect(!Data(try folder.content(name)).contains(Data("cAnArY7".utf8)), "\(name)")
        }
        store = DiskCacheStore(patient: folder)
        #expect(try await store.found(key).map(\.metadata.key) == [key])
        var metadata = entry.metadata
        metadata.tags = ["a"]
        _ = try await store.update(metadata).value()
        #expect(try await store.found(key).map(\.metadata.tags) == [["a"]])
        #expect(
            store.usage == CacheUsage(entries: 1, bytes: CacheEntry(metadata, body: entry.body).byteCount))
        #expect(try await store.remove(.identity("somebody else")).value() == 0)
        #expect(try await store.remove(.identity(key.identity)).value() == 1)
    }
}

extension Data {
    fileprivate func contains(_ other: Data) -> Bool { firstRange(of: other) != nil }
}
#endif
