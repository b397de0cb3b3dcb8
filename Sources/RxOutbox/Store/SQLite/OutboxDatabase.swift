#if Outbox
import FoundationEssentials
import GRDB
import RxHTTP
import RxSQLite

/// The database of a folder, opened on demand, and the lease of its store. Not replaced if it is damaged: then every
/// operation fails, and the files stay as they are. All methods block.
struct OutboxDatabase {
    private static let name = "outbox.sqlite"
    /// The name of a database that is being made. Nothing but a complete one gets the name of the database.
    private static let draft = "outbox.new"

    private let folder: SQLiteFolder
    private let durability: SQLiteOutboxStore.Durability
    private var queue: DatabaseQueue?
    private var senderLock: FolderLock?
    /// Set once the database has turned out to be damaged, until it is closed.
    private var damage: SQLiteFailure?

    init(_ folder: SQLiteFolder, _ durability: SQLiteOutboxStore.Durability) {
        self.folder = folder
        self.durability = durability
    }

    /// Runs `body` in a transaction, which is rolled back if it throws.
    mutating func write<Result>(_ body: (OutboxTable) throws -> Result) throws(SQLiteFailure) -> Result {
        try perform { queue in
            try queue.write { db in
                let table = OutboxTable(db: db)
                let result = try body(table)
                try table.countChanges()
                return result
            }
        }
    }

    mutating func read<Result>(_ body: (OutboxTable) throws -> Result) throws(SQLiteFailure) -> Result {
        try perform { queue in try queue.read { db in try body(OutboxTable(db: db)) } }
    }

    /// Takes the lock of the sender, unless another process or store has it; true if it is held.
    mutating func lockSender() throws(SQLiteFailure) -> Bool {
        if senderLock != nil { return true }
        do { senderLock = try folder.lock("sender") } catch { throw SQLiteFailure(error) }
        return senderLock != nil
    }

    var isSender: Bool { senderLock != nil }

    mutating func unlockSender() {
        senderLock?.release()
        senderLock = nil
    }

    mutating func close() {
        unlockSender()
        // A connection that cannot be closed properly closes when it is released.
        try? queue?.close()
        queue = nil
        damage = nil
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
            case .unfit, .moved, .refused, .untrusted:
                // Whatever the reason, it may be gone when the file is opened again.
                try? queue?.close()
                queue = nil
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
