#if Outbox
import FoundationEssentials
import GRDB
import RxHTTP
import RxSQLite

/// The database of a folder, opened on demand, and the lease of its store. Not replaced if it is damaged: then every
/// operation fails, and the files stay as they are. All methods block.
struct OutboxDatabase {
    // Other processes, also of other releases, use the same names, and that of the lock in `takeLease()`.

    private static let name = "outbox.sqlite"
    /// The name of a database that is being made. Nothing but a complete one gets the name of the database.
    private static let draft = "outbox.new"

    private let folder: SQLiteFolder
    private let durability: SQLiteOutboxStore.Durability
    private var queue: DatabaseQueue?
    /// Which file is open.
    private var identity: SQLiteFolder.FileIdentity?
    private var senderLock: FolderLock?
    /// The number of the lease for which the lock is held.
    private var leaseNumber: Int64?
    /// Set once the database has turned out to be damaged, until it is closed.
    private var damage: SQLiteFailure?

    init(_ folder: SQLiteFolder, _ durability: SQLiteOutboxStore.Durability) {
        self.folder = folder
        self.durability = durability
    }

    /// Runs `body` in a transaction, which is rolled back if it throws.
    mutating func write<Result>(_ body: (OutboxTable) throws -> Result) throws(SQLiteFailure) -> Result {
        let held = leaseNumber
        return try perform { queue in
            try queue.write { db in
                let table = OutboxTable(db: db, held: held)
                let result = try body(table)
                try table.countChanges()
                return result
            }
        }
    }

    mutating func read<Result>(_ body: (OutboxTable) throws -> Result) throws(SQLiteFailure) -> Result {
        try perform { queue in try queue.read { db in try body(OutboxTable(db: db)) } }
    }

    /// Takes the lease of the sender; `nil` if another process, another store or another outbox with this store has it.
    mutating func takeLease() throws(SQLiteFailure) -> OutboxLease? {
        // Nobody sends from a database that cannot be read.
        try read { _ in }
        guard senderLock == nil else { return nil }
        do { senderLock = try folder.lock("sender") } catch { throw SQLiteFailure(error) }
        guard senderLock != nil else { return nil }
        do throws(SQLiteFailure) {
            let number = try write { try $0.takeLease() }
            leaseNumber = number
            return OutboxLease(number: number)
        } catch {
            unlockSender()
            throw error
        }
    }

    /// Whether the lock is held for a lease. It lasts as long as the store holds it, so a held lease needs no renewal.
    func holds(_ lease: OutboxLease) -> Bool { leaseNumber == lease.number }

    mutating func release(_ lease: OutboxLease) {
        if holds(lease) { unlockSender() }
    }

    private mutating func unlockSender() {
        senderLock?.release()
        senderLock = nil
        leaseNumber = nil
    }

    /// Closes the files, but keeps the lock of a lease that is held.
    mutating func close() {
        closeConnection()
        damage = nil
    }

    /// Closes everything.
    mutating func end() {
        close()
        unlockSender()
    }

    private mutating func closeConnection() {
        // A connection that cannot be closed properly closes when it is released.
        try? queue?.close()
        queue = nil
    }

    private mutating func perform<Result>(
        _ body: (DatabaseQueue) throws -> Result
    ) throws(SQLiteFailure) -> Result {
        if let damage { throw damage }
        do {
            return try body(opened())
        } catch {
            let failure = SQLiteFailure(error)
            switch failure.kind {
            case .busy: break
            case .damaged, .otherVersion: damage = failure
            case .unfit, .refused, .untrusted:
                // Whatever the reason, it may be gone when the file is opened again.
                closeConnection()
            case .moved:
                // The lock is that of the former folder, and another process may send from the new one.
                closeConnection()
                unlockSender()
            }
            throw failure
        }
    }

    private mutating func opened() throws -> DatabaseQueue {
        if let queue {
            guard let identity, SQLiteFolder.identity(of: folder.file(Self.name)) == identity else {
                throw SQLiteFailure(
                    .moved, "the database \(folder.file(Self.name)) has been removed or replaced")
            }
            return queue
        }
        let (folder, durability) = (folder, durability)
        let queue = try folder.locked {
            let path = folder.file(Self.name)
            switch try folder.size(of: Self.name) {
            case nil:
                guard !SQLiteFolder.exists(path + "-wal") else {
                    throw SQLiteFailure(.damaged, "the database \(path) is missing, but its log is there")
                }
                let draft = try Self.connection(
                    to: folder.createDraft(Self.draft), folder.patience, durability)
                try draft.write { db in try OutboxTable.create(in: db) }
                try draft.close()
                try folder.publishDraft(Self.draft, as: Self.name)
            case 0?: throw SQLiteFailure(.damaged, "the database \(path) is empty")
            default: break
            }
            let queue = try Self.connection(to: path, folder.patience, durability)
            let version = try queue.read { db in try OutboxTable.check(db) }
            if version < OutboxTable.version { try queue.write { db in try OutboxTable.upgrade(db) } }
            return queue
        }
        self.queue = queue
        identity = SQLiteFolder.identity(of: folder.file(Self.name))
        return queue
    }

    private static func connection(
        to path: String, _ patience: Int, _ durability: SQLiteOutboxStore.Durability
    ) throws -> DatabaseQueue {
        let queue = try DatabaseQueue(
            path: path, configuration: .sharedFile(label: "RxOutbox", patience: patience))
        // After GRDB has chosen WAL, with which it sets NORMAL.
        try queue.writeWithoutTransaction { db in
            try db.execute(sql: "PRAGMA synchronous = \(durability.pragma)")
        }
        return queue
    }
}

extension SQLiteFailure {
    /// Whether the system or SQLite has refused a statement, for one of its values perhaps.
    var isRefusal: Bool { kind == .refused || kind == .unfit }

    /// The failure for callers of the store.
    var networkError: NetworkError {
        NetworkError(kind == .untrusted ? .untrustedFile : .file, "outbox: " + message)
    }
}
#endif
