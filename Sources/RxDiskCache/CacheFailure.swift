import GRDB
import RxHTTP

#if canImport(Glibc)
    import Glibc
#elseif canImport(Darwin)
    import Darwin
#endif

/// What to do about something that did not work.
struct CacheFailure: Error {
    enum Kind {
        /// Another process is at it: another time.
        case busy
        /// The data on disk is not the written data: another database in its place.
        case broken
        /// The database is not where it was: open the one that is there now.
        case moved
        /// The disk says no.
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

    /// A call that failed.
    init(_ call: String, _ code: CInt) {
        self.init(.refused, "\(call): \(unsafe String(cString: strerror(code)))")
    }

    /// Reads what SQLite says (https://www.sqlite.org/rescode.html).
    init(_ error: any Error) {
        switch error {
        case let failure as CacheFailure: self = failure
        case let error as DatabaseError:
            // Neither SQL nor arguments, which hold URLs.
            self.init(Self.kind(of: error), "\(error.extendedResultCode): \(error.message ?? "")")
        case is RowDecodingError: self.init(.broken, "a column is not what was written")
        default: self.init(.refused, "\(error)")
        }
    }

    private static func kind(of error: DatabaseError) -> Kind {
        if error.extendedResultCode == .SQLITE_READONLY_DBMOVED { return .moved }
        switch error.resultCode {
        case .SQLITE_BUSY, .SQLITE_LOCKED, .SQLITE_PROTOCOL: return .busy
        case .SQLITE_CORRUPT, .SQLITE_NOTADB, .SQLITE_FORMAT: return .broken
        // The statements are right, so it is the tables that are wrong.
        case .SQLITE_ERROR, .SQLITE_CONSTRAINT, .SQLITE_MISMATCH, .SQLITE_SCHEMA, .SQLITE_RANGE:
            return .broken
        default: return .refused
        }
    }

    /// As those see it who asked the store.
    var networkError: NetworkError {
        NetworkError(kind == .untrusted ? .untrustedFile : .file, "disk cache: " + message)
    }
}
