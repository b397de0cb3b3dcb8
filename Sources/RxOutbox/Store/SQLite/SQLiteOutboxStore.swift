#if Outbox
public import FoundationEssentials
public import RxHTTP
public import RxLite
import RxSQLite

/// A store on disk, in SQLite, which survives the death of its process at any moment.
///
/// ```swift
/// let store = SQLiteOutboxStore(folder: "/var/lib/shop/outbox")
/// let outbox = try Outbox(store: store, client: client, endpoints: [PlaceOrder.self])
/// ```
///
/// Several processes may use one folder: all may write entries, one sends them, and another one takes over within
/// ``pollInterval`` when that one ends, however it ends. The folder must be on a local disk and contain nothing else.
///
/// Entries that are written at the same time share a transaction, and thus the wait for the disk (group commit).
///
/// A database that is damaged, or that a newer release has written, is neither replaced nor repaired: every operation
/// fails with `NetworkError.Code.file`. A folder or file of another user, and a folder that others can write to, are
/// refused with `NetworkError.Code.untrustedFile`. The folder is created with mode 0700, its files with 0600.
///
/// Thread-safe. Operations run on a dedicated thread, in the order of their subscriptions.
public final class SQLiteOutboxStore: OutboxStore {
    /// The failures that a stored entry survives.
    public enum Durability: Sendable, Hashable {
        /// A crash of the machine and a power failure: each transaction waits until the disk has it
        /// (`PRAGMA synchronous = FULL`).
        case machine
        /// The death of the process, but not of the machine: a power failure may lose the latest entries and the latest
        /// outcomes, never the consistency of the database (`PRAGMA synchronous = NORMAL`). An entry whose outcome is
        /// lost is sent again; so is one whose begin of an attempt is lost, even if it must be sent at most once.
        case process

        var pragma: String {
            switch self {
            case .machine: "FULL"
            case .process: "NORMAL"
            }
        }
    }

    /// How often an outbox looks for entries that another process has written, and for the end of the sender.
    public let pollInterval: Duration?
    private let writer: OutboxWriter

    /// Creates a store. The folder is opened, and created if needed, by the first operation.
    ///
    /// - Parameters:
    ///   - folder: a path, absolute or relative to the working directory.
    ///   - durability: what a durable entry survives. Default: a crash of the machine.
    ///   - pollInterval: how often an outbox looks for changes by other processes. Default a second. `nil` if no other
    ///     process uses the folder, which lets an idle outbox sleep.
    ///   - patience: how long one operation waits while another process is writing, up to an hour. Default 5 s.
    public init(
        folder: String, durability: Durability = .machine, pollInterval: Duration? = .seconds(1),
        patience: Duration = .seconds(5)
    ) {
        self.pollInterval = pollInterval.map { max($0, .milliseconds(10)) }
        writer = OutboxWriter(
            OutboxDatabase(SQLiteFolder(path: folder, patience: patience), durability))
    }

    deinit {
        writer.run { database in
            database.end()
            return {}
        }
    }

    /// Adds an entry.
    public func add(_ entry: OutboxEntry, _ content: Data) -> Observable<OutboxAddition, NetworkError> {
        let row = OutboxRow(entry, content)
        return writing { try $0.add(row) }
    }

    /// All entries.
    public func load() -> Observable<OutboxSnapshot, NetworkError> { reading { try $0.load() } }

    /// The stored endpoint of an entry.
    public func content(of id: OutboxID) -> Observable<Data?, NetworkError> {
        reading { try $0.content(of: id) }
    }

    /// Changes an entry.
    public func change(
        _ change: OutboxChange, under lease: OutboxLease?
    ) -> Observable<OutboxChange.Outcome, NetworkError> {
        let prepared = PreparedChange(change)
        return writing { try $0.change(prepared, under: lease) }
    }

    /// The receipt of a delivered entry.
    public func receipt(of id: OutboxID) -> Observable<OutboxReceipt?, NetworkError> {
        reading { try $0.receipt(of: id) }
    }

    /// Removes receipts.
    public func removeReceipts(before date: Date, keeping limit: Int) -> Observable<Void, NetworkError> {
        writing { try $0.removeReceipts(before: date, keeping: limit) }
    }

    /// The number of changes.
    public func revision() -> Observable<Int64, NetworkError> { reading { try $0.revision() } }

    /// Takes or renews the lease, which ends with the process or the store. Of several outboxes that share the store, too,
    /// one has it.
    public func lease(
        renewing held: OutboxLease?, at now: Date
    ) -> Observable<OutboxLease?, NetworkError> {
        alone { database throws(SQLiteFailure) in
            if let held { return database.holds(held) ? held : nil }
            return try database.takeLease()
        }
    }

    /// Gives the lease back.
    public func release(_ lease: OutboxLease) -> Observable<Void, NetworkError> {
        alone { database throws(SQLiteFailure) in database.release(lease) }
    }

    /// Closes the files. The next operation opens them again, which may help after a damaged database has been repaired. A
    /// lease that has not been released stays, since another outbox may send with this store.
    public func close() -> Observable<Void, NetworkError> {
        alone { database throws(SQLiteFailure) in database.close() }
    }

    private func writing<Value: Sendable>(
        _ work: @escaping @Sendable (OutboxTable) throws -> Value
    ) -> Observable<Value, NetworkError> {
        Observable { observer in
            self.writer.write(work) { result in
                observer.scope.enter { observer.emitOnly(result) }
            }
        }
    }

    private func reading<Value: Sendable>(
        _ work: @escaping @Sendable (OutboxTable) throws -> Value
    ) -> Observable<Value, NetworkError> {
        alone { database throws(SQLiteFailure) in try database.read(work) }
    }

    private func alone<Value: Sendable>(
        _ work: @escaping @Sendable (inout OutboxDatabase) throws(SQLiteFailure) -> Value
    ) -> Observable<Value, NetworkError> {
        Observable { observer in
            self.writer.run { database in
                let result: Result<Value, NetworkError>
                do throws(SQLiteFailure) { result = .success(try work(&database)) } catch {
                    result = .failure(error.networkError)
                }
                return { observer.scope.enter { observer.emitOnly(result) } }
            }
        }
    }
}
#endif
