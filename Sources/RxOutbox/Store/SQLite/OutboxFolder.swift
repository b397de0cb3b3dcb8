#if Outbox
import FoundationEssentials
import RxHTTP

#if canImport(Glibc)
import Glibc
#elseif canImport(Darwin)
import Darwin
#endif

/// The folder of a store: one database, a lock for opening it, and a lock for the process that sends.
struct OutboxFolder: Sendable {
    let path: String
    /// How long to wait for another process, in milliseconds.
    let patience: Int

    /// The interval between attempts to take the lock, in milliseconds.
    private static let pause = 5

    var database: String { path + "/outbox.sqlite" }

    /// The path of a database that is being made. Nothing but a complete one gets the name of the database.
    var draft: String { path + "/outbox.new" }

    /// Runs `body` while no other process, and no other store of this process, opens the database. Creates the folder if
    /// needed, for its owner only.
    func locked<Result>(_ body: () throws -> Result) throws -> Result {
        if !Self.exists(path) {
            try FileManager.default.createDirectory(
                atPath: path, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        }
        try checkFolder()
        var waited = 0
        while true {
            if let lock = try lock("lock") {
                defer { lock.release() }
                return try body()
            }
            guard waited < patience else {
                throw OutboxStoreFailure(.busy, "another process or store has locked the folder \(path)")
            }
            usleep(UInt32(Self.pause) * 1000)
            waited += Self.pause
        }
    }

    /// Locks a file in the folder; `nil` if another process or store has locked it. The end of the process releases it.
    func lock(_ name: String) throws -> FileLock? {
        let descriptor = try open(name)
        var status = stat()
        guard unsafe fstat(descriptor, &status) == 0 else {
            let code = errno
            close(descriptor)
            throw OutboxStoreFailure("fstat", code)
        }
        do { try checkOwner(status, of: name) } catch {
            close(descriptor)
            throw error
        }
        guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else {
            let code = errno
            close(descriptor)
            guard code == EWOULDBLOCK || code == EINTR else { throw OutboxStoreFailure("flock", code) }
            return nil
        }
        return FileLock(descriptor: descriptor)
    }

    static func exists(_ path: String) -> Bool { unsafe access(path, F_OK) == 0 }

    /// The size of the database; `nil` without one.
    func databaseSize() throws -> Int64? {
        var status = stat()
        guard unsafe lstat(database, &status) == 0 else {
            guard errno == ENOENT else { throw OutboxStoreFailure("lstat", errno) }
            return nil
        }
        guard status.st_mode & S_IFMT == S_IFREG else {
            throw OutboxStoreFailure(.untrusted, "\(database) is not a regular file")
        }
        try checkOwner(status, of: database)
        return Int64(status.st_size)
    }

    /// Creates an empty file for a database that is being made. SQLite creates the files beside it with its permissions.
    func createDraft() throws {
        for end in ["", "-wal", "-shm", "-journal"] where Self.exists(draft + end) {
            try FileManager.default.removeItem(atPath: draft + end)
        }
        close(try open("outbox.new", O_EXCL))
    }

    /// Gives the complete database its name, durably.
    func publishDraft() throws {
        for path in [draft, path] {
            #if canImport(Glibc)
            let descriptor = unsafe Glibc.open(path, O_RDONLY | O_CLOEXEC)
            #else
            let descriptor = unsafe Darwin.open(path, O_RDONLY | O_CLOEXEC)
            #endif
            guard descriptor >= 0 else { throw OutboxStoreFailure("open", errno) }
            defer { close(descriptor) }
            guard fsync(descriptor) == 0 else { throw OutboxStoreFailure("fsync", errno) }
            if path == draft, unsafe rename(draft, database) != 0 {
                throw OutboxStoreFailure("rename", errno)
            }
        }
    }

    private func checkFolder() throws {
        var status = stat()
        guard unsafe stat(path, &status) == 0 else { throw OutboxStoreFailure("stat", errno) }
        try checkOwner(status, of: "the folder \(path)")
        guard status.st_mode & (S_IWGRP | S_IWOTH) == 0 else {
            throw OutboxStoreFailure(
                .untrusted, "other users can write to the folder \(path); remove their write permission")
        }
    }

    private func checkOwner(_ status: stat, of name: String) throws {
        guard status.st_uid == geteuid() else {
            throw OutboxStoreFailure(.untrusted, "\(name) belongs to another user")
        }
    }

    private func open(_ name: String, _ flags: CInt = 0) throws -> CInt {
        let flags = flags | O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW
        #if canImport(Glibc)
        let descriptor = unsafe Glibc.open(path + "/" + name, flags, 0o600)
        #else
        let descriptor = unsafe Darwin.open(path + "/" + name, flags, 0o600)
        #endif
        guard descriptor >= 0 else { throw OutboxStoreFailure("open \(name)", errno) }
        return descriptor
    }
}

/// A lock of a file, held until it is released.
final class FileLock: Sendable {
    private let descriptor: CInt

    init(descriptor: CInt) { self.descriptor = descriptor }

    /// Call at most once.
    func release() {
        // Closing alone would leave the lock with a process that is being forked.
        _ = flock(descriptor, LOCK_UN)
        close(descriptor)
    }
}

/// A failure of a store, with the kind of reaction to it.
struct OutboxStoreFailure: Error {
    enum Kind {
        /// Another process holds a lock: try again later.
        case busy
        /// The data on disk is not what was written: nothing is read or written any more.
        case damaged
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

    /// The failure for callers of the store.
    var networkError: NetworkError {
        NetworkError(kind == .untrusted ? .untrustedFile : .file, "outbox: " + message)
    }
}
#endif
