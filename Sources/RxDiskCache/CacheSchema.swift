#if DiskCache
import GRDB

/// The tables of a database, and the configuration of a connection to it.
enum CacheSchema {
    /// Increased with each change of the tables or of their contents.
    static let version = 2

    static let statements = [
        // `metadata` is JSON. The other columns are copies of parts of it, to search by; `bytes` is the size
        // of the entry, `used` increases with each use, and the checks are CRC-32.
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

    /// A connection in WAL mode: readers and the one writer do not wait for each other, and a killed process
    /// loses nothing that it has committed (https://www.sqlite.org/wal.html).
    static func configuration(patience: Int) -> Configuration {
        var configuration = Configuration()
        configuration.journalMode = .wal
        configuration.busyMode = .timeout(Double(patience) / 1000)
        configuration.label = "RxDiskCache"
        configuration.prepareDatabase { db in
            // SQLite's recommendation for files that may have been tampered with
            // (https://www.sqlite.org/security.html).
            try db.execute(
                sql: "PRAGMA trusted_schema = OFF; PRAGMA cell_size_check = ON; PRAGMA mmap_size = 0")
            // The log is truncated to 4 MiB whenever its content has been moved to the database.
            try db.execute(sql: "PRAGMA journal_size_limit = \(4 << 20)")
        }
        return configuration
    }

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
            throw CacheFailure(.broken, "the database has another version, or foreign tables")
        }
        let isRight = try Bool.fetchOne(
            db,
            sql: """
                SELECT count(*) = 1 AND sum(total.entries) = (SELECT count(*) FROM entry)
                    AND sum(total.bytes) = (SELECT coalesce(sum(bytes), 0) FROM entry) FROM total
                """)
        guard isRight == true else { throw CacheFailure(.broken, "the totals do not match the entries") }
        guard try Bool.fetchOne(db, sql: "SELECT count(*) = 1 AND min(length(value)) = 32 FROM salt") == true
        else {
            throw CacheFailure(.broken, "the salt is missing or has another length than was written")
        }
    }
}
#endif
