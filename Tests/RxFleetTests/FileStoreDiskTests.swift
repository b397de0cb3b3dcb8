#if Fleet
import RxHTTP
import RxLite
import RxSQLite
import RxTesting
import Synchronization
import TestServers
import Testing

@testable import RxFleet

/// The disk under a file store: what waits for it, and what does not.
@Suite(.timeLimit(.minutes(2))) struct FileStoreDiskTests {
    /// A disk that lets its callers wait until the test opens the gate.
    private final class Disk: Sendable {
        struct State: Sendable {
            /// The number of waits that have begun.
            var waits = 0
            var failsNext = false
        }

        let board = Board(State())
        let gate: Gate

        init() throws { gate = try Gate() }

        var storeDisk: StoreDisk {
            StoreDisk { [board, gate] path throws(SQLiteFailure) in
                let fails = board.update { state in
                    state.waits += 1
                    defer { state.failsNext = false }
                    return state.failsNext
                }
                gate.wait()
                guard !fails else { throw SQLiteFailure("fdatasync", 5) }
                try StoreDisk.system.sync(path)
            }
        }
    }

    private let folder: TemporaryFolder
    private let disk: Disk

    init() throws {
        folder = try TemporaryFolder()
        disk = try Disk()
    }

    private func store(on disk: StoreDisk = .system) -> FileStore {
        FileStore(
            folder: folder.file("fleet"), durability: .machine, checkInterval: .seconds(2),
            patience: .seconds(20), clock: .system, disk: disk)
    }

    private func swap(_ store: FileStore, _ key: String) -> Observable<SwapResult, NetworkError> {
        store.swap(key, to: [1], expecting: .any, under: nil, for: nil)
    }

    /// A process that waits for the disk does not hold up the writes of others.
    @Test func apart() async throws {
        let (slow, other) = (store(on: disk.storeDisk), store())
        let waiting = Journal(swap(slow, "a"))
        try await disk.board.until { $0.waits == 1 ? () : nil }
        for number in 0..<20 { _ = try await swap(other, "k\(number)").value() }
        // It is visible, and not reported.
        #expect(try await other.read("a").value() != nil)
        #expect(!waiting.hasEnded)
        disk.gate.open()
        try await Journals.until { waiting.hasEnded }
        #expect(waiting.failure == nil && waiting.values.count == 1)
    }

    /// Swaps that come while the disk works wait for it together; what changes nothing waits for nothing.
    @Test func together() async throws {
        let store = store(on: disk.storeDisk)
        let first = Journal(swap(store, "a"))
        try await disk.board.until { $0.waits == 1 ? () : nil }
        let rest = (0..<50).map { Journal(swap(store, "k\($0)")) }
        disk.gate.open()
        try await Journals.until { first.hasEnded && rest.allSatisfy { $0.hasEnded } }
        #expect(rest.allSatisfy { $0.failure == nil })
        #expect(disk.board.contents.waits == 2)
        let conflict = store.swap("a", to: [2], expecting: .absent, under: nil, for: nil)
        #expect(try await conflict.value() == .conflict)
        #expect(disk.board.contents.waits == 2)
    }

    /// A swap that the disk may not have fails.
    @Test func failure() async throws {
        let store = store(on: disk.storeDisk)
        disk.gate.open()
        _ = try await swap(store, "a").value()
        disk.board.update { $0.failsNext = true }
        let failed = Journal(swap(store, "b"))
        try await Journals.until { failed.hasEnded }
        #expect(failed.failure?.code == .file)
        #expect(failed.failure?.message.contains("fdatasync") == true)
        _ = try await swap(store, "b").value()
    }

    /// Closing a store writes pending changes.
    @Test func closed() async throws {
        let store = store(on: disk.storeDisk)
        disk.gate.open()
        let last = Journal(swap(store, "a"))
        _ = try await store.close().value()
        try await Journals.until { last.hasEnded }
        #expect(last.values.count == 1)
        #expect(disk.board.contents.waits == 1)
        #expect(try await self.store().read("a").value()?.bytes == [1])
    }
}
#endif
