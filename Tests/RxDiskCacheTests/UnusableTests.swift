#if DiskCache
import Foundation
import GRDB
import RxCache
import RxDiskCache
import RxHTTP
import RxLite
import TestServers
import Testing

@testable import disk_cache_probe

#if canImport(Glibc)
import Glibc
#elseif canImport(Darwin)
import Darwin
#endif

/// Folders that contain other files, or cannot be used.
@Suite(.timeLimit(.minutes(3))) struct UnusableTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    /// Another file in the place of the database.
    enum Stranger: CaseIterable {
        case text, otherDatabase, laterVersion, directory, link, otherTotals

        func put(in folder: TemporaryFolder) throws {
            let path = folder.file("answers-X.sqlite")
            switch self {
            case .text: _ = try folder.file("answers-X.sqlite", Array("no database\n".utf8))
            case .directory:
                try FileManager.default.createDirectory(
                    atPath: path + "/full", withIntermediateDirectories: true)
            case .link:
                try FileManager.default.createSymbolicLink(
                    atPath: path, withDestinationPath: folder.file("elsewhere", [1, 2]))
            case .otherDatabase:
                try DatabaseQueue(path: path).write { try $0.execute(sql: "CREATE TABLE entry (id)") }
            case .laterVersion:
                try FileManager.default.moveItem(atPath: folder.database, toPath: path)
                try DatabaseQueue(path: path).write { try $0.execute(sql: "PRAGMA user_version = 7") }
            case .otherTotals:
                try FileManager.default.moveItem(atPath: folder.database, toPath: path)
                try DatabaseQueue(path: path).write { try $0.execute(sql: "UPDATE total SET bytes = -1") }
            }
        }
    }

    /// A file that is not a database of this version is replaced.
    @Test(arguments: Stranger.allCases)
    func strangers(_ stranger: Stranger) async throws {
        do {
            let store = DiskCacheStore(patient: folder)
            try await store.put(SampleEntry.make(key: 1, number: 1, size: 1000))
            _ = try await store.close().value()
        }
        if ![.laterVersion, .otherTotals].contains(stranger) {
            try FileManager.default.removeItem(atPath: folder.database)
        }
        try stranger.put(in: folder)
        let store = DiskCacheStore(patient: folder)
        #expect(try await store.numbers() == [:])
        try await store.put(SampleEntry.make(key: 2, number: 2, size: 1000))
        #expect(try await store.numbers() == [2: 2])
        #expect(store.statistics.failedLookups == 0 && store.statistics.failedChanges == 0)
        let isNoFile = [.directory, .link].contains(stranger)
        #expect(store.statistics.brokenDatabases == (isNoFile ? 0 : 1))
        #expect(try folder.names.count { $0.hasSuffix(".sqlite") } == 1)
        if stranger == .link { #expect(try folder.content("elsewhere") == [1, 2]) }
    }

    /// If the folder cannot be created, lookups find nothing and changes fail.
    @Test(arguments: ["file/x", "file"])
    func noFolder(name: String) async throws {
        _ = try folder.file("file", [1])
        let store = DiskCacheStore(folder: folder.file(name))
        #expect(try await store.numbers() == [:])
        let error = await #expect(throws: NetworkError.self) {
            try await store.put(SampleEntry.make(key: 1, number: 1, size: 1))
        }
        #expect(error?.code == .file)
        #expect(store.statistics.failedLookups == SampleEntry.keyCount)
        #expect(store.statistics.failedChanges == 2)  // with the first opening
        #expect(store.statistics.busy == 0)
        #expect(store.statistics.lastFailure?.code == .file)
        #expect(try folder.content("file") == [1])
    }

    /// Another process that holds the lock causes misses until it releases it.
    @Test func busy() async throws {
        let store = DiskCacheStore(folder: folder.path, patience: .milliseconds(10))
        try await store.put(SampleEntry.make(key: 1, number: 1, size: 1000))
        var configuration = Configuration()
        configuration.allowsUnsafeTransactions = true
        let other = try DatabaseQueue(path: folder.database, configuration: configuration)
        try await other.writeWithoutTransaction { db in try db.execute(sql: "BEGIN EXCLUSIVE") }
        // Readers do not wait.
        #expect(try await store.numbers() == [1: 1])
        await #expect(throws: NetworkError.self) {
            try await store.put(SampleEntry.make(key: 2, number: 2, size: 1000))
        }
        #expect(store.statistics.busy == 1 && store.statistics.failedChanges == 1)
        try await other.writeWithoutTransaction { db in try db.execute(sql: "COMMIT") }
        try other.close()
        _ = try await store.close().value()

        let lock = unsafe open(folder.file("lock"), O_RDWR | O_CLOEXEC)
        #expect(flock(lock, LOCK_EX) == 0)
        #expect(try await store.found(SampleEntry.key(1)).isEmpty)
        #expect(store.statistics.busy == 2 && store.statistics.failedLookups == 1)
        close(lock)
        try await store.put(SampleEntry.make(key: 2, number: 2, size: 1000))
        #expect(try await store.numbers() == [1: 1, 2: 2])
        #expect(store.statistics.brokenDatabases == 0)
    }

    // MARK: - A separate disk

    private static func canMount() async throws -> Bool {
        let script = "mkdir -p \"$F\" && mount -t tmpfs -o size=64k none \"$F\""
        return try await onDisk(script, TemporaryFolder()).ending == .exited(0)
    }

    private static func onDisk(_ script: String, _ folder: TemporaryFolder) async throws
        -> ChildProcess.Record
    {
        let child = try ChildProcess(
            "/usr/bin/env", ["unshare", "-m", "sh", "-c", script],
            environment: [
                "PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "F": folder.file("disk"),
                "PROBE": ChildProcess.product("disk-cache-probe"),
            ])
        child.closeInput()
        return try await child.ended()
    }

    private func number(_ name: String, in line: String?) throws -> Int {
        let words = try #require(line).split(separator: " ").map(String.init)
        let place = try #require(words.firstIndex(of: name))
        return try #require(Int(words[place + 1]))
    }

    /// A full disk accepts no more, and returns its entries; one that cannot be written returns none.
    @Test(.enabled("needs the right to mount a file system") { try await canMount() })
    func fullAndReadOnly() async throws {
        let record = try await Self.onDisk(
            """
            mkdir "$F" && mount -t tmpfs -o size=1m,mode=700 none "$F" && "$PROBE" use "$F" && rm -r "$F"/* &&
            "$PROBE" use "$F" && mount -o remount,ro "$F" && "$PROBE" use "$F"
            """, folder)
        #expect(record.ending == .exited(0), "\(record.text) \(record.errorText)")
        let lines = record.text.split(separator: "\n").map(String.init)
        try #require(lines.count == 3, "\(record.text) \(record.errorText)")
        for line in lines.prefix(2) {
            let stored = try number("stored", in: line)
            #expect(stored > 2 && stored < SampleEntry.keyCount)
            #expect(try number("found", in: line) == stored)
            #expect(try number("failed", in: line) == 1)
            #expect(try number("lookups", in: line) == 0)
        }
        #expect(try number("stored", in: lines[2]) == 0)
        #expect(try number("found", in: lines[2]) == 0)
        #expect(try number("lookups", in: lines[2]) == SampleEntry.keyCount)
    }
}
#endif
