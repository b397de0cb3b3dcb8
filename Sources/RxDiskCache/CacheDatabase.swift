#if DiskCache
import GRDB
import RxCache
import RxSQLite

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
    mutating func write<Result>(_ body: (Database) throws -> Result) throws(SQLiteFailure) -> Result {
        try withDatabase { queue in try queue.write(body) }
    }

    /// Runs `body`, which writes nothing and therefore waits for no writer. A corrupt database is replaced
    /// here, too.
    mutating func read<Result>(_ body: (Database) throws -> Result) throws(SQLiteFailure) -> Result {
        try withDatabase { queue in try queue.read(body) }
    }

    /// Removes the database with all its contents.
    mutating func removeAll() throws(SQLiteFailure) {
        close()
        do {
            try folder.locked { try folder.remove(database: folder.database()) }
        } catch {
            throw SQLiteFailure(error)
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
    ) throws(SQLiteFailure) -> Result {
        var repairs = 0
        while true {
            do {
                return try body(opened())
            } catch {
                let failure = SQLiteFailure(error)
                switch failure.kind {
                case .busy: throw failure
                case .refused, .untrusted:
                    // Whatever the reason, it may be gone when the files are opened again.
                    close()
                    throw failure
                case .damaged, .unfit, .otherVersion, .moved:
                    let path = connection?.path
                    close()
                    repairs += 1
                    guard repairs < 3 else { throw failure }
                    if failure.isBroken, let path { try replace(path) }
                }
            }
        }
    }

    private mutating func opened() throws -> DatabaseQueue {
        if let connection {
            // Another process may have replaced it by one with another name.
            if SQLiteFolder.exists(connection.path) { return connection.queue }
            close()
        }
        let folder = folder
        var broken = 0
        let connection = try folder.locked {
            let path = try folder.database()
            do {
                return Connection(queue: try Self.open(path, patience: folder.patience), path: path)
            } catch {
                guard SQLiteFailure(error).isBroken else { throw error }
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
            path: path, configuration: .sharedFile(label: "RxDiskCache", patience: patience))
        try queue.write { db in
            if try Int.fetchOne(db, sql: "SELECT count(*) FROM sqlite_schema") == 0 {
                try CacheSchema.create(in: db)
            }
            try CacheSchema.check(db)
        }
        return queue
    }

    /// Removes a corrupt database, unless another process already has.
    private mutating func replace(_ path: String) throws(SQLiteFailure) {
        do {
            let wasThere = try folder.locked {
                guard SQLiteFolder.exists(path) else { return false }
                try folder.remove(database: path)
                return true
            }
            if wasThere { replacedCount += 1 }
        } catch {
            throw SQLiteFailure(error)
        }
    }
}

/// The tables of a database.
enum CacheSchema {
    /// Increased with each change of the tables or of their contents.
    static let version = 2

    /// Compared with the text in the file: after any change, even of blanks, existing databases are replaced.
    static let statements = [
        // `metadata` is JSON. The other columns are copies of parts of it, to search by; `bytes` is the size
        // of the entry, `place` its URL without the query, `used` increases with each use, and the checks are CRC-32.
        """
        CREATE TABLE entry (
            id INTEGER PRIMARY KEY, uuid TEXT NOT NULL, url TEXT NOT NULL, rules TEXT NOT NULL,
            method TEXT NOT NULL, identity TEXT NOT NULL, content TEXT NOT NULL, variant TEXT NOT NULL,
            place TEXT NOT NULL, bytes INTEGER NOT NULL, used INTEGER NOT NULL, metadata BLOB NOT NULL,
            metadataCheck INTEGER NOT NULL)
        """,
        // Separate, so that a change of an entry's metadata does not write its body again.
        """
        CREATE TABLE body (
            entry INTEGER PRIMARY KEY REFERENCES entry(id) ON DELETE CASCADE, content BLOB NOT NULL,
            contentCheck INTEGER NOT NULL)
        """,
        """
        CREATE TABLE tag (
            tag TEXT NOT NULL, entry INTEGER NOT NULL REFERENCES entry(id) ON DELETE CASCADE,
            PRIMARY KEY (tag, entry)) WITHOUT ROWID
        """,
        "CREATE INDEX tagOfEntry ON tag(entry)",
        "CREATE UNIQUE INDEX entryByKey ON entry(url, rules, method, identity, content, variant)",
        "CREATE UNIQUE INDEX entryByUUID ON entry(uuid)",
        "CREATE INDEX entryByUse ON entry(used, bytes)",
        // One row of random bytes, hashed with everything that identifies the requester or the content sent.
        "CREATE TABLE salt (value BLOB NOT NULL)",
        // One row: the number of entries and their total size.
        "CREATE TABLE total (entries INTEGER NOT NULL, bytes INTEGER NOT NULL)",
        """
        CREATE TRIGGER entryAdded AFTER INSERT ON entry BEGIN
            UPDATE total SET entries = entries + 1, bytes = bytes + new.bytes; END
        """,
        """
        CREATE TRIGGER entryRemoved AFTER DELETE ON entry BEGIN
            UPDATE total SET entries = entries - 1, bytes = bytes - old.bytes; END
        """,
        """
        CREATE TRIGGER entryChanged AFTER UPDATE OF bytes ON entry BEGIN
            UPDATE total SET bytes = bytes - old.bytes + new.bytes; END
        """,
    ]

    /// Creates the tables of an empty database.
    static func create(in db: Database) throws {
        for statement in statements { try db.execute(sql: statement) }
        try db.execute(
            sql: """
                INSERT INTO total VALUES (0, 0); INSERT INTO salt VALUES (randomblob(32));
                PRAGMA user_version = \(version)
                """)
    }

    /// Throws unless the tables are exactly these and the totals are correct.
    static func check(_ db: Database) throws {
        let version = try Int.fetchOne(db, sql: "PRAGMA user_version")
        let found = try String.fetchAll(
            db,
            sql: #"""
                SELECT coalesce(sql, '') FROM sqlite_schema WHERE name NOT LIKE 'sqlite\_%' ESCAPE '\' ORDER BY rowid
                """#)
        guard version == Self.version, found == statements else {
            throw SQLiteFailure(.damaged, "the database has another version, or foreign tables")
        }
        let isRight = try Bool.fetchOne(
            db,
            sql: """
                SELECT count(*) = 1 AND sum(total.entries) = (SELECT count(*) FROM entry)
                    AND sum(total.bytes) = (SELECT coalesce(sum(bytes), 0) FROM entry) FROM total
                """)
        guard isRight == true else { throw SQLiteFailure(.damaged, "the totals do not match the entries") }
        guard try Bool.fetchOne(db, sql: "SELECT count(*) = 1 AND min(length(value)) = 32 FROM salt") == true
        else {
            throw SQLiteFailure(.damaged, "the salt is missing or has another length than was written")
        }
    }
}
#endif
