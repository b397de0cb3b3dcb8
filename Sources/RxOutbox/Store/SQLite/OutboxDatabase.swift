#if Outbox
import FoundationEssentials
import GRDB
import RxHTTP

/// The database of a folder, opened on demand, and the lease of its store. Not replaced if it is damaged: then every
/// operation fails, and the files stay as they are. All methods block.
struct OutboxDatabase {
    private let folder: OutboxFolder
    private let durability: SQLiteOutboxStore.Durability
    private var queue: DatabaseQueue?
    private var senderLock: FileLock?
    /// Set once the database has turned out to be damaged, until it is closed.
    private var damage: OutboxStoreFailure?

    init(_ folder: OutboxFolder, _ durability: SQLiteOutboxStore.Durability) {
        self.folder = folder
        self.durability = durability
    }

    /// Runs `body` in a transaction, which is rolled back if it throws.
    mutating func write<Result>(_ body: (OutboxTable) throws -> Result) throws(OutboxStoreFailure) -> Result {
        try perform { queue in try queue.write { db in try body(OutboxTable(db: db)) } }
    }

    mutating func read<Result>(_ body: (OutboxTable) throws -> Result) throws(OutboxStoreFailure) -> Result {
        try perform { queue in try queue.read { db in try body(OutboxTable(db: db)) } }
    }

    /// Takes the lock of the sender, unless another process or store has it; true if it is held.
    mutating func lockSender() throws(OutboxStoreFailure) -> Bool {
        if senderLock != nil { return true }
        do { senderLock = try folder.lock("sender") } catch { throw OutboxStoreFailure(error) }
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
    ) throws(OutboxStoreFailure) -> Result {
        if let damage { throw damage }
        do {
            return try body(opened())
        } catch {
            let failure = OutboxStoreFailure(error)
            switch failure.kind {
            case .busy: break
            case .damaged: damage = failure
            case .refused, .untrusted:
                // Whatever the reason, it may be gone when the file is opened again.
                try? queue?.close()
                queue = nil
            }
            throw failure
        }
    }

    private mutating func opened() throws -> DatabaseQueue {
        if let queue {
            guard OutboxFolder.exists(folder.database) else {
                throw OutboxStoreFailure(.refused, "the database \(folder.database) has been removed")
            }
            return queue
        }
        let (folder, durability) = (folder, durability)
        let queue = try folder.locked {
            switch try folder.databaseSize() {
            case nil:
                guard !OutboxFolder.exists(folder.database + "-wal") else {
                    throw OutboxStoreFailure(
                        .damaged, "the database \(folder.database) is missing, but its log is there")
                }
                try folder.createDraft()
                let draft = try Self.connection(to: folder.draft, folder.patience, durability)
                try draft.write { db in try OutboxTable.create(in: db) }
                try draft.close()
                try folder.publishDraft()
            case 0?: throw OutboxStoreFailure(.damaged, "the database \(folder.database) is empty")
            default: break
            }
            let queue = try Self.connection(to: folder.database, folder.patience, durability)
            try queue.read { db in try OutboxTable.check(db) }
            return queue
        }
        self.queue = queue
        return queue
    }

    private static func connection(
        to path: String, _ patience: Int, _ durability: SQLiteOutboxStore.Durability
    ) throws -> DatabaseQueue {
        var configuration = Configuration()
        configuration.journalMode = .wal
        configuration.busyMode = .timeout(Double(patience) / 1000)
        configuration.label = "RxOutbox"
        configuration.prepareDatabase { db in
            // SQLite's recommendation for files that may have been tampered with
            // (https://www.sqlite.org/security.html).
            try db.execute(
                sql: "PRAGMA trusted_schema = OFF; PRAGMA cell_size_check = ON; PRAGMA mmap_size = 0")
            try db.execute(sql: "PRAGMA journal_size_limit = \(4 << 20)")
        }
        let queue = try DatabaseQueue(path: path, configuration: configuration)
        // After GRDB has chosen WAL, with which it sets NORMAL.
        try queue.writeWithoutTransaction { db in
            try db.execute(sql: "PRAGMA synchronous = \(durability.pragma)")
        }
        return queue
    }
}

extension OutboxStoreFailure {
    /// Classifies an error of SQLite (https://www.sqlite.org/rescode.html).
    init(_ error: any Error) {
        switch error {
        case let failure as OutboxStoreFailure: self = failure
        case let error as DatabaseError:
            // The message contains neither SQL nor arguments, which hold URLs.
            self.init(Self.kind(of: error), "\(error.extendedResultCode): \(error.message ?? "")")
        case is RowDecodingError: self.init(.damaged, "a column has another type than was written")
        default: self.init(.refused, "\(error)")
        }
    }

    private static func kind(of error: DatabaseError) -> Kind {
        switch error.resultCode {
        case .SQLITE_BUSY, .SQLITE_LOCKED, .SQLITE_PROTOCOL: .busy
        case .SQLITE_CORRUPT, .SQLITE_NOTADB, .SQLITE_FORMAT, .SQLITE_MISMATCH: .damaged
        default: .refused
        }
    }
}
#endif
