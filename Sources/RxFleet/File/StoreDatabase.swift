#if Fleet
import FoundationEssentials
import GRDB
import RxHTTP
import RxSQLite

/// The database of a file store, opened on demand. A database that is damaged, or that is not one of these, is left as it is:
/// then every operation fails. All methods block.
struct StoreDatabase {
    // The names in the folder, the same for all processes, also of other releases.
    private static let name = "fleet.sqlite"
    private static let draft = "fleet.new"

    private let folder: SQLiteFolder
    private let clock: StoreClock
    private let durability: FileStore.Durability
    private let disk: StoreDisk
    private var queue: DatabaseQueue?
    /// Whether there are lasting changes that ``sync()`` has still to write to the disk.
    private var isUnsynced = false
    /// The failure of all operations, once the database has turned out to be damaged, unfit, of another version or of
    /// another program.
    private var refusal: SQLiteFailure?

    init(
        _ folder: SQLiteFolder, _ clock: StoreClock, _ durability: FileStore.Durability, _ disk: StoreDisk
    ) {
        self.folder = folder
        self.clock = clock
        self.durability = durability
        self.disk = disk
    }

    /// Whether it has been opened.
    var isOpen: Bool { queue != nil }

    /// Runs `body` in a transaction, which is rolled back if it throws.
    ///
    /// - Parameter isLasting: whether the change must survive a crash of the machine; it does after ``sync()``. What only
    ///   the processes of this start of the machine need does not wait for the disk.
    mutating func write<Result>(
        isLasting: Bool, _ body: (StoreTable) throws -> Result
    ) throws(SQLiteFailure) -> Result {
        let clock = clock
        let (result, hasChanged) = try perform { queue in
            try queue.writeWithoutTransaction { db in
                let changes = db.totalChangesCount
                var result: Result?
                try db.inTransaction(.immediate) {
                    result = try body(StoreTable(db: db, now: clock.now().storedNanoseconds))
                    return .commit
                }
                return (result, db.totalChangesCount != changes)
            }
        }
        if isLasting, hasChanged, durability == .machine { isUnsynced = true }
        guard let result else { throw SQLiteFailure(.refused, "the transaction has no result") }
        return result
    }

    /// Waits until the disk has what must last.
    ///
    /// Without SQLite's lock, so that the commits of other processes do not wait for the disk as well, as they would with
    /// `PRAGMA synchronous = FULL`. A commit is in the log, or has been moved from it to the database; SQLite writes nothing
    /// over it in the log before the disk has the database (https://www.sqlite.org/wal.html#ckpt). The log exists as long as
    /// this connection is open.
    mutating func sync() throws(SQLiteFailure) {
        guard isUnsynced else { return }
        isUnsynced = false
        try disk.sync(folder.file(Self.name) + "-wal")
    }

    mutating func read<Result>(_ body: (StoreTable) throws -> Result) throws(SQLiteFailure) -> Result {
        let clock = clock
        return try perform { queue in
            try queue.read { db in try body(StoreTable(db: db, now: clock.now().storedNanoseconds)) }
        }
    }

    /// Opens the database, if that has not been done.
    mutating func open() throws(SQLiteFailure) { try perform { _ in } }

    mutating func close() {
        // A connection that cannot be closed properly closes when it is released.
        try? queue?.close()
        queue = nil
    }

    private mutating func perform<Result>(
        _ body: (DatabaseQueue) throws -> Result
    ) throws(SQLiteFailure) -> Result {
        if let refusal { throw refusal }
        do {
            return try body(opened())
        } catch {
            let failure = SQLiteFailure(error)
            switch failure.kind {
            case .busy: break
            case .damaged, .unfit, .otherVersion:
                refusal = failure
                close()
            case .refused, .untrusted, .moved:
                // Whatever the reason, it may be gone when the file is opened again.
                close()
            }
            throw failure
        }
    }

    private mutating func opened() throws -> DatabaseQueue {
        if let queue {
            guard SQLiteFolder.exists(folder.file(Self.name)) else {
                throw SQLiteFailure(.moved, "the database \(folder.file(Self.name)) has been removed")
            }
            return queue
        }
        let (folder, clock) = (folder, clock)
        let queue = try folder.locked {
            if try folder.size(of: Self.name) == nil { try Self.create(in: folder, clock) }
            try Self.check(folder.file(Self.name), folder.patience)
            let queue = try Self.connection(to: folder.file(Self.name), folder.patience)
            try queue.write { db in
                try StoreTable(db: db, now: clock.now().storedNanoseconds).begin(clock)
            }
            return queue
        }
        self.queue = queue
        return queue
    }

    private static func create(in folder: SQLiteFolder, _ clock: StoreClock) throws {
        guard !SQLiteFolder.exists(folder.file(name) + "-wal") else {
            throw SQLiteFailure(
                .damaged, "the database \(folder.file(name)) is missing, but its log is there")
        }
        let draft = try connection(to: folder.createDraft(Self.draft), folder.patience)
        try draft.write { db in try StoreTable.create(in: db, clock) }
        try draft.close()
        try folder.publishDraft(Self.draft, as: name)
    }

    /// Looks at the file without the right to write, since opening a foreign database to write would change it: SQLite
    /// would move the content of its log into it, or give it a log.
    ///
    /// By SQLite and not by reading the header: closing a file also drops the locks that other connections of this process
    /// have on it (https://www.sqlite.org/howtocorrupt.html#_posix_advisory_locks_canceled_by_a_separate_thread_doing_close_).
    private static func check(_ path: String, _ patience: Int) throws {
        var configuration = Configuration()
        configuration.readonly = true
        configuration.busyMode = .timeout(Double(patience) / 1000)
        let queue = try DatabaseQueue(path: path, configuration: configuration)
        try queue.read { db in try StoreTable.check(db) }
        try queue.close()
    }

    private static func connection(to path: String, _ patience: Int) throws -> DatabaseQueue {
        try DatabaseQueue(path: path, configuration: .sharedFile(label: "RxFleet", patience: patience))
    }
}

extension SQLiteFailure {
    /// The failure for callers of the store.
    var networkError: NetworkError {
        let code: NetworkError.Code =
            switch kind {
            case .busy: .locked
            case .damaged, .unfit: .corruptStore
            case .otherVersion: .laterFormat
            case .moved, .refused: .file
            case .untrusted: .untrustedFile
            }
        return NetworkError(code, "file store: " + message)
    }
}
#endif
