#if Fleet
public import RxHTTP
public import RxLite
import RxSQLite
import Synchronization

/// A store in a folder, for the processes of one machine. It survives the death of any of them at any moment.
///
/// ```swift
/// let store = FileStore(folder: "/var/lib/shop/fleet")
/// let fleet = Fleet(sharing: store, as: "worker 3")
/// ```
///
/// The folder must be on a local disk, belong to the processes' user and contain nothing else; it is created with mode 0700.
/// Versions, fencing numbers and entries are kept in SQLite, and outlive all processes.
///
/// **Waiting.** A process that returns a lease or sends a message writes to a file of the folder, and the kernel tells the
/// others (inotify). It also tells them when a process ends, however it does: its leases end then, and not only after
/// their time. If the process is killed between its change and that write, or the system has no watches left
/// (`fs.inotify.max_user_instances`), the others notice the change within `checkInterval`. A process that is stopped (SIGSTOP)
/// keeps its lease for the time of the lease, and its place in the queue for a second; if it is stopped in the middle of a
/// write, the writes of the others wait for it up to `patience`, and then fail with `locked`.
///
/// **Time** is that since the machine was started, suspensions included (`CLOCK_BOOTTIME`), so setting the clock has no
/// effect. When the machine is started again, all leases have ended; lifetimes and budgets continue by the date, and are off by
/// as much as the clock was set in between.
///
/// A database that is damaged or not a store's fails all commands with `corruptStore`, and one of
/// another version of this library with `laterFormat`; neither is changed or replaced. A folder of
/// another user, or that others can write to, is refused with `untrustedFile`.
///
/// Thread-safe. Work that blocks runs on a thread of the store, where events arrive, too.
public final class FileStore: SharedStore {
    /// The failures that a written entry survives. Leases, budgets and messages never wait for the disk, since no process that
    /// knows of them survives a crash of the machine.
    public enum Durability: Sendable, Hashable {
        /// A crash of the machine and a power failure: each swap waits until the disk has it (`fdatasync`). Swaps of several
        /// processes wait at the same time; those of one process that come meanwhile wait together.
        case machine
        /// The death of processes, but not of the machine: a power failure may lose the latest swaps, among them the note
        /// that a refresh token is about to be sent.
        case process
    }

    let thread: FileStoreThread
    private let numbers = Atomic<Int64>(0)

    /// Creates a store. The folder is opened, and created if needed, by the first command.
    ///
    /// - Parameters:
    ///   - folder: a path, absolute or relative to the working directory.
    ///   - durability: what a written entry survives. Default: a crash of the machine.
    ///   - checkInterval: how often a store that waits looks for changes of which it was not told. Default 2 s; at least
    ///     100 ms.
    ///   - patience: how long a command waits while another process is writing, up to an hour. Default 5 s.
    public convenience init(
        folder: String, durability: Durability = .machine, checkInterval: Duration = .seconds(2),
        patience: Duration = .seconds(5)
    ) {
        self.init(
            folder: folder, durability: durability, checkInterval: checkInterval, patience: patience,
            clock: .system)
    }

    init(
        folder: String, durability: Durability, checkInterval: Duration, patience: Duration,
        clock: StoreClock, disk: StoreDisk = .system
    ) {
        thread = FileStoreThread(
            FileStoreState(
                SQLiteFolder(path: folder, patience: patience), clock: clock,
                checkInterval: max(checkInterval, .milliseconds(100)), durability: durability, disk: disk),
            clock)
    }

    deinit { thread.stop() }

    /// Reads an entry.
    public func read(_ key: String) -> Observable<SharedEntry?, NetworkError> {
        command { () throws(NetworkError) in
            try StoreRules.check(name: key)
        } _: { state throws(NetworkError) in
            try state.read { try $0.read(key) }
        }
    }

    /// Replaces an entry if it has the expected version and its lease has not been followed by another.
    public func swap(
        _ key: String, to bytes: [UInt8]?, expecting expected: ExpectedVersion, under lease: SharedLease?,
        for lifetime: Duration?
    ) -> Observable<SwapResult, NetworkError> {
        command(isLasting: true) { () throws(NetworkError) in
            try StoreRules.check(name: key)
            if let bytes { try StoreRules.check(entry: bytes) }
        } _: { state throws(NetworkError) in
            try state.write(isLasting: true) {
                try $0.swap(key, to: bytes, expecting: expected, under: lease, for: lifetime)
            }
        }
    }

    /// A lease, granted in the order of the requests of all processes.
    public func lease(_ name: String, for time: Duration) -> Observable<SharedLease, NetworkError> {
        .create { [self] emitter in
            do throws(NetworkError) { try StoreRules.check(name: name) } catch { return emitter.fail(error) }
            let (number, time) = (nextNumber(), StoreRules.leaseTime(time))
            thread.run {
                $0.request(number, name, for: time, emitter)
            } refuse: {
                emitter.fail($0)
            }
            emitter.onClose { [self] in
                thread.run {
                    $0.release(number)
                } refuse: { _ in
                }
            }
        }
    }

    /// Takes from a budget, by the generic cell rate algorithm.
    public func take(
        _ count: Int, from key: String, _ budget: SharedBudget
    ) -> Observable<BudgetReply, NetworkError> {
        .deferred { [self] () throws(NetworkError) in
            let rate = try CellRate(budget, taking: count)
            return command { () throws(NetworkError) in
                try StoreRules.check(name: key)
            } _: { state throws(NetworkError) in
                try state.write { try $0.take(rate, from: key) }
            }
        }
    }

    /// Sends a message to all stores of the folder.
    public func publish(_ message: [UInt8], to channel: String) -> Observable<Void, NetworkError> {
        command { () throws(NetworkError) in
            try StoreRules.check(name: channel)
            try StoreRules.check(message: message)
        } _: { state throws(NetworkError) in
            try state.publish(message, to: channel)
        }
    }

    /// The messages of a channel. A process that has been stopped for longer than a minute, or that is 4096 messages late,
    /// misses some, and receives ``SharedMessage/disconnected`` and ``SharedMessage/connected`` in their place.
    public func messages(of channel: String) -> Observable<SharedMessage, Never> {
        .create { [self] emitter in
            guard (try? StoreRules.check(name: channel)) != nil else { return emitter.send(.disconnected) }
            let number = nextNumber()
            thread.run {
                $0.subscribe(number, to: channel, emitter)
            } refuse: { _ in
                emitter.send(.disconnected)
            }
            emitter.onClose { [self] in
                thread.run {
                    $0.unsubscribe(number)
                } refuse: { _ in
                }
            }
        }
    }

    /// Returns the leases and closes the files, which the release of the store does as well. Later commands fail with
    /// `shutDown`.
    public func close() -> Observable<Void, NetworkError> {
        command { () throws(NetworkError) in
        } _: { state throws(NetworkError) in
            state.close()
        }
    }

    /// Ends the sleep of the store's thread, and reports when everything that is due has been done.
    func settle() -> Observable<Void, NetworkError> {
        command { () throws(NetworkError) in
        } _: { _ throws(NetworkError) in
        }
    }

    private func nextNumber() -> Int64 { numbers.add(1, ordering: .relaxed).newValue }

    private func command<Value: Sendable>(
        isLasting: Bool = false,
        checking check: @escaping @Sendable () throws(NetworkError) -> Void,
        _ execute: @escaping @Sendable (inout FileStoreState) throws(NetworkError) -> Value
    ) -> Observable<Value, NetworkError> {
        Observable { observer in
            do throws(NetworkError) { try check() } catch { return observer.emitOnly(.failure(error)) }
            self.thread.run { state in
                let result: Result<Value, NetworkError>
                do throws(NetworkError) { result = .success(try execute(&state)) } catch {
                    result = .failure(error)
                }
                guard isLasting else {
                    return state.report { observer.scope.enter { observer.emitOnly(result) } }
                }
                state.reportLasting { failure in
                    observer.scope.enter { observer.emitOnly(failure.map { .failure($0) } ?? result) }
                }
            } refuse: { error in
                observer.scope.enter { observer.emitOnly(.failure(error)) }
            }
        }
    }
}

extension NetworkError.Code {
    /// The file of a store is damaged, or belongs to another program. It is left as it is: move it away, or restore it.
    public static let corruptStore = Self(rawValue: "corruptStore")
}
#endif
