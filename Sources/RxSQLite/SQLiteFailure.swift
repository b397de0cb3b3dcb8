#if DiskCache || Fleet || Outbox
package import GRDB

#if canImport(Glibc)
import Glibc
#elseif canImport(Darwin)
import Darwin
#endif

/// A failure of a database or of its folder, with the kind of reaction to it.
package struct SQLiteFailure: Error {
    /// The kind of a failure.
    package enum Kind: Sendable {
        /// Another process holds a lock: try again later.
        case busy
        /// The data on disk is not what was written.
        case damaged
        /// The tables are not those that the statements were written for.
        case unfit
        /// The file of the database has been moved or replaced.
        case moved
        /// A later version of this library, or an earlier one, has written the database.
        case otherVersion
        /// The system refused the operation.
        case refused
        /// The folder, or a file in it, may come from another user.
        case untrusted
    }

    package let kind: Kind
    package let message: String

    package init(_ kind: Kind, _ message: String) {
        self.kind = kind
        self.message = message
    }

    /// A system call that failed.
    package init(_ call: String, _ code: CInt) {
        self.init(.refused, "\(call): \(unsafe String(cString: strerror(code)))")
    }

    /// Classifies an error of SQLite (https://www.sqlite.org/rescode.html).
    package init(_ error: any Error) {
        switch error {
        case let failure as SQLiteFailure: self = failure
        case let error as DatabaseError:
            // The message contains neither SQL nor arguments, which hold URLs and keys.
            self.init(Self.kind(of: error), "\(error.extendedResultCode): \(error.message ?? "")")
        case is RowDecodingError: self.init(.damaged, "a column has another type than was written")
        default: self.init(.refused, "\(error)")
        }
    }

    /// A disk cache deletes a database that is `damaged` or `unfit`, so any doubtful code is `refused`.
    private static func kind(of error: DatabaseError) -> Kind {
        if error.extendedResultCode == .SQLITE_READONLY_DBMOVED { return .moved }
        return switch error.resultCode {
        case .SQLITE_BUSY, .SQLITE_LOCKED, .SQLITE_PROTOCOL: .busy
        case .SQLITE_CORRUPT, .SQLITE_NOTADB, .SQLITE_FORMAT, .SQLITE_MISMATCH: .damaged
        case .SQLITE_ERROR, .SQLITE_CONSTRAINT, .SQLITE_SCHEMA, .SQLITE_RANGE: .unfit
        default: .refused
        }
    }
}

extension Configuration {
    /// A connection in WAL mode: readers and the one writer do not wait for each other, and a killed process loses nothing
    /// that it has committed (https://www.sqlite.org/wal.html).
    ///
    /// - Parameters:
    ///   - label: the name in descriptions of the database.
    ///   - patience: how long a transaction waits for another process, in milliseconds.
    package static func sharedFile(label: String, patience: Int) -> Configuration {
        var configuration = Configuration()
        configuration.journalMode = .wal
        configuration.busyMode = .timeout(Double(patience) / 1000)
        configuration.label = label
        configuration.prepareDatabase { db in
            // SQLite's recommendation for files that may have been tampered with
            // (https://www.sqlite.org/security.html).
            try db.execute(
                sql: "PRAGMA trusted_schema = OFF; PRAGMA cell_size_check = ON; PRAGMA mmap_size = 0")
            // The log is truncated to 4 MiB, as the documentation of the stores says, whenever its content has been
            // moved to the database.
            try db.execute(sql: "PRAGMA journal_size_limit = \(4 << 20)")
        }
        return configuration
    }
}
#endif
