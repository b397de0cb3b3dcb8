#if DiskCache
import GRDB
import RxCache

/// The database of a folder, opened on demand and replaced if it is corrupt.
///
/// All methods block.
struct CacheDatabase {
    private struct Connection {
        let queue: DatabaseQueue
        let path: String
    }

    /// The number of databases replaced because they were corrupt.
    private(set) var replacedCount = 0
    private let folder: CacheFolder
    private var connection: Connection?

    init(folder: CacheFolder) { self.folder = folder }

    /// Runs `body` in a transaction, which is rolled back if it throws. A corrupt database is replaced, and
    /// `body` runs again on an empty one.
    mutating func write<Result>(_ body: (Database) throws -> Result) throws(CacheFailure) -> Result {
        try withDatabase { queue in try queue.write(body) }
    }

    /// Runs `body`, which writes nothing and therefore waits for no writer. A corrupt database is replaced
    /// here, too.
    mutating func read<Result>(_ body: (Database) throws -> Result) throws(CacheFailure) -> Result {
        try withDatabase { queue in try queue.read(body) }
    }

    /// Removes the database with all its contents.
    mutating func removeAll() throws(CacheFailure) {
        close()
        do {
            try folder.locked { try folder.remove(database: folder.database()) }
        } catch {
            throw CacheFailure(error)
        }
    }

    /// Closes the database. The next access opens it again.
    mutating func close() {
        // A connection that cannot be closed properly closes when it is released.
        try? connection?.queue.close()
        connection = nil
    }

    private mutating func withDatabase<Result>(
        _ body: (DatabaseQueue) throws -> Result
    ) throws(CacheFailure) -> Result {
        var repairs = 0
        while true {
            do {
                return try body(opened())
            } catch {
                let failure = CacheFailure(error)
                switch failure.kind {
                case .busy: throw failure
                case .refused, .untrusted:
                    // Whatever the reason, it may be gone when the files are opened again.
                    close()
                    throw failure
                case .broken, .moved:
                    let path = connection?.path
                    close()
                    repairs += 1
                    guard repairs < 3 else { throw failure }
                    if failure.kind == .broken, let path { try replace(path) }
                }
            }
        }
    }

    private mutating func opened() throws -> DatabaseQueue {
        if let connection {
            if CacheFolder.exists(connection.path) { return connection.queue }
            close()
        }
        let folder = folder
        var broken = 0
        let connection = try folder.locked {
            let path = try folder.database()
            do {
                return Connection(queue: try Self.open(path, patience: folder.patience), path: path)
            } catch {
                guard CacheFailure(error).kind == .broken else { throw error }
                try folder.remove(database: path)
                broken += 1
                let path = try folder.database()
                return Connection(queue: try Self.open(path, patience: folder.patience), path: path)
            }
        }
        replacedCount += broken
        self.connection = connection
        return connection.queue
    }

    private static func open(_ path: String, patience: Int) throws -> DatabaseQueue {
        let queue = try DatabaseQueue(
            path: path, configuration: CacheSchema.configuration(patience: patience))
        try queue.write { db in
            if try Int.fetchOne(db, sql: "SELECT count(*) FROM sqlite_schema") == 0 {
                try CacheSchema.create(in: db)
            }
            try CacheSchema.check(db)
        }
        return queue
    }

    /// Removes a corrupt database, unless another process already has.
    private mutating func replace(_ path: String) throws(CacheFailure) {
        do {
            let wasThere = try folder.locked {
                guard CacheFolder.exists(path) else { return false }
                try folder.remove(database: path)
                return true
            }
            if wasThere { replacedCount += 1 }
        } catch {
            throw CacheFailure(error)
        }
    }
}
#endif
