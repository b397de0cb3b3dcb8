#if DiskCache
import GRDB
import RxHTTP

#if canImport(Glibc)
import Glibc
#elseif canImport(Darwin)
import Darwin
#endif

/// A failure of the disk cache, with the kind of reaction to it.
struct CacheFailure: Error {
    enum Kind {
        /// Another process holds a lock: try again later.
        case busy
        /// The data on disk is not the written data: replace the database.
        case broken
        /// The database is no longer where it was: open the current one.
        case moved
        /// The system refused the operation.
        case refused
        /// The folder, or a file in it, may come from another user.
        case untrusted
    }

    let kind: Kind
    let message: String

    init(_ kind: Kind, _ message: String) {
        self.kind = kind
        self.message = message
    }

    /// A system call that failed.
    init(_ call: String, _ code: CInt) {
        self.init(.refused, "\(call): \(unsafe String(cString: strerror(code)))")
    }

    /// Classifies an error of SQLite (https://www.sqlite.org/rescode.html).
    init(_ error: any Error) {
        switch error {
        case let failure as CacheFailure: self = failure
        case let error as DatabaseError:
            // The message contains neither SQL nor arguments, which hold URLs.
            self.init(Self.kind(of: error), "\(error.extendedResultCode): \(error.message ?? "")")
        case is RowDecodingError: self.init(.broken, "a column has another type than was written")
        default: self.init(.refused, "\(error)")
        }
    }

    private static func kind(of error: DatabaseError) -> Kind {
        if error.extendedResultCode == .SQLITE_READONLY_DBMOVED { return .moved }
        switch error.resultCode {
        case .SQLITE_BUSY, .SQLITE_LOCKED, .SQLITE_PROTOCOL: return .busy
        case .SQLITE_CORRUPT, .SQLITE_NOTADB, .SQLITE_FORMAT: return .broken
        // The statements are correct, so the tables are wrong.
        case .SQLITE_ERROR, .SQLITE_CONSTRAINT, .SQLITE_MISMATCH, .SQLITE_SCHEMA, .SQLITE_RANGE:
            return .broken
        default: return .refused
        }
    }

    /// The failure for callers of the store.
    var networkError: NetworkError {
        NetworkError(kind == .untrusted ? .untrustedFile : .file, "disk cache: " + message)
    }
}
#endif
