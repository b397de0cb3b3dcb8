#if Fleet
import Dispatch
import FoundationEssentials
import RxHTTP
import RxLite
import Synchronization
import TestServers
import Testing

@testable import RxFleet

/// A folder with stores whose time a test moves.
final class FileStoreFixture: Sendable {
    /// The time, which the stores know; they do not know the fixture.
    private final class Time: Sendable {
        let contents = Mutex((now: Duration.seconds(1000), wall: Duration.seconds(1_800_000_000)))
        var now: Duration { contents.withLock { $0.now } }
    }

    private struct Contents {
        var stores: [FileStore] = []
        /// The event that the threads of stopped stores wait for.
        var stopped: [ObjectIdentifier: DispatchSemaphore] = [:]
    }

    let folder: TemporaryFolder
    private let time = Time()
    private let contents: Mutex<Contents>

    init() throws {
        folder = try TemporaryFolder()
        contents = Mutex(Contents())
    }

    var path: String { folder.file("fleet") }
    var database: String { path + "/fleet.sqlite" }
    var now: Duration { time.now }

    private func clock(_ boot: String) -> StoreClock {
        StoreClock(
            now: { [time] in time.now }, wall: { [time] in time.contents.withLock { $0.wall } }, boot: boot,
            isSteered: true)
    }

    /// A store as of another process.
    func store(boot: String = "boot 1", checkInterval: Duration = .seconds(3600)) -> FileStore {
        let store = FileStore(
            folder: path, durability: .process, checkInterval: checkInterval, patience: .seconds(20),
            clock: clock(boot))
        contents.withLock { $0.stores.append(store) }
        return store
    }

    /// Moves the time in small steps, and lets all stores do at each step what is due.
    func pass(_ duration: Duration, step: Duration = .milliseconds(50)) async throws {
        let end = now + duration
        while now < end {
            time.contents.withLock { time in
                let next = min(time.now + step, end)
                time.wall += next - time.now
                time.now = next
            }
            try await settle()
        }
    }

    /// Moves the time in one step, as for a process that is stopped meanwhile.
    func leap(_ duration: Duration) { time.contents.withLock { $0.now += duration } }

    func setDate(by change: Duration) { time.contents.withLock { $0.wall += change } }

    /// Does not keep a store any more.
    func forget(_ store: FileStore) { contents.withLock { $0.stores.removeAll { $0 === store } } }

    /// The machine is started again, by the date `off` after it has ended.
    func reboot(after off: Duration) {
        time.contents.withLock { time in
            time.wall += off
            time.now = .seconds(5)
        }
        contents.withLock { $0.stores = [] }
    }

    func settle() async throws {
        let stores = contents.withLock { contents in
            contents.stores.filter { contents.stopped[ObjectIdentifier($0)] == nil }
        }
        for store in stores { _ = try? await store.settle().value() }
    }

    /// Holds the thread of a store, as the signal SIGSTOP does with all threads of a process.
    func stop(_ store: FileStore) {
        let semaphore = DispatchSemaphore(value: 0)
        contents.withLock { $0.stopped[ObjectIdentifier(store)] = semaphore }
        store.thread.run { _ in
            semaphore.wait()
        } refuse: { _ in
        }
    }

    func resume(_ store: FileStore) {
        contents.withLock { $0.stopped.removeValue(forKey: ObjectIdentifier(store)) }?.signal()
    }

    /// Closes all stores, as their processes do at their end.
    func closeAll() async throws {
        let stores = contents.withLock { contents in
            defer { contents.stores = [] }
            return contents.stores
        }
        for store in stores { _ = try await store.close().value() }
    }

    var subject: StoreSubject {
        StoreSubject(
            connect: { [self] in store() }, now: { [self] in now }, pass: { [self] in try await pass($0) },
            until: { isMet in try await Journals.until(isMet) },
            stop: { [self] in if let store = $0 as? FileStore { stop(store) } },
            resume: { [self] in if let store = $0 as? FileStore { resume(store) } },
            restart: { [self] in try await closeAll() })
    }
}
#endif
