#if Fleet
import RxSQLite

#if canImport(Glibc)
import Glibc
#elseif canImport(Darwin)
import Darwin
#endif

/// The disk of a file store.
struct StoreDisk: Sendable {
    /// Waits until the disk has the content of a file. Blocks.
    let sync: @Sendable (_ path: String) throws(SQLiteFailure) -> Void

    /// The disk of the machine.
    static let system = StoreDisk { path throws(SQLiteFailure) in
        #if canImport(Glibc)
        // The locks of the process on a file end when it closes any descriptor of it; SQLite has none on its log.
        let descriptor = unsafe Glibc.open(path, O_RDWR | O_CLOEXEC | O_NOFOLLOW)
        #else
        let descriptor = unsafe Darwin.open(path, O_RDWR | O_CLOEXEC | O_NOFOLLOW)
        #endif
        guard descriptor >= 0 else { throw SQLiteFailure("open", errno) }
        defer { close(descriptor) }
        #if canImport(Glibc)
        guard fdatasync(descriptor) == 0 else { throw SQLiteFailure("fdatasync", errno) }
        #else
        guard fcntl(descriptor, F_FULLFSYNC) == 0 else { throw SQLiteFailure("F_FULLFSYNC", errno) }
        #endif
    }
}
#endif
