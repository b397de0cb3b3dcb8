import GRDB
import RxCache

/// The one database of a folder, opened when it is needed, replaced when it is broken.
///
/// All of it blocks.
struct CacheDatabase {
    private struct Connection {
        let queue: DatabaseQueue
        let path: String
    }

    /// How many databases have been replaced because they were broken.
    private(set) var replacedCount = 0
    private let folder: CacheFolder
    private var connection: Connection?

    init(folder: CacheFolder) { self.folder = folder }

    /// Runs `body` in a transaction, which is undone where it throws. What is found broken is replaced, and `body`
    /// runs once more, on an empty database.
    mutating func write<Result>(_ body: (Database) throws -> Result) throws(CacheFailure) -> Result {
        try withDatabase { queue in try queue.write(body) }
    }

    /// Runs `body`, which writes nothing and so waits for no writer. What is found broken is replaced, too.
    mutating func read<Result>(_ body: (Database) throws -> Result) throws(CacheFailure) -> Result {
        try withDatabase { queue in try queue.read(body) }
    }

    /// Removes the database with all that is in it.
    mutating func removeAll() throws(CacheFailure) {
        close()
        do {
            try folder.locked { try folder.remove(database: folder.database()) }
        } catch {
            throw CacheFailure(error)
        }
    }

    /// Closes it. The next access opens it again.
    mutating func close() {
        // A connection that cannot be closed well closes when it is let go of.
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
                    // Whatever it is, it may be over when the files are opened anew.
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

    /// Removes a broken database, unless another process already has.
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
