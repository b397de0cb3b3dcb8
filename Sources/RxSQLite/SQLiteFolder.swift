#if DiskCache || Fleet || Outbox
import FoundationEssentials

#if canImport(Glibc)
package import Glibc
#elseif canImport(Darwin)
package import Darwin
#endif

/// The folder of a database that several processes of one user share: its lock, its owner, and how the database appears.
package struct SQLiteFolder: Sendable {
    /// The path, absolute or relative to the working directory.
    package let path: String
    /// How long to wait for another process, in milliseconds.
    package let patience: Int

    /// In milliseconds.
    private static let attemptInterval = 5

    /// Creates a description; no file is touched. The patience is at most an hour, as the documentation of each store
    /// says.
    package init(path: String, patience: Duration) {
        self.path = path
        self.patience = Int(min(max(patience / .milliseconds(1), 0), 3_600_000))
    }

    /// Runs `body` while no other process, and no other store of this process, opens or replaces a database in the folder.
    /// Creates the folder if needed, for its owner only.
    package func locked<Result>(_ body: () throws -> Result) throws -> Result {
        try create()
        var waited = 0
        while true {
            // Processes of all releases lock this file.
            if let held = try lock("lock") {
                defer { held.release() }
                return try body()
            }
            guard waited < patience else {
                throw SQLiteFailure(.busy, "another process or store has locked the folder \(path)")
            }
            usleep(UInt32(Self.attemptInterval) * 1000)
            waited += Self.attemptInterval
        }
    }

    /// Creates the folder if needed, for its owner only, and checks that nobody else can write to it.
    package func create() throws {
        if !Self.exists(path) {
            // Each folder that is missing now, the deepest first.
            let missing = sequence(first: path, next: Self.parent(of:)).prefix { !Self.exists($0) }
            try FileManager.default.createDirectory(
                atPath: path, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
            for folder in missing { try Self.synchronize(Self.parent(of: folder)) }
        }
        var status = stat()
        guard unsafe stat(path, &status) == 0 else { throw SQLiteFailure("stat", errno) }
        try checkOwner(status, of: "the folder \(path)")
        guard status.st_mode & (S_IWGRP | S_IWOTH) == 0 else {
            throw SQLiteFailure(
                .untrusted, "other users can write to the folder \(path); remove their write permission")
        }
    }

    /// Locks a file in the folder; `nil` if another process or store has locked it. The end of the process releases it.
    package func lock(_ name: String) throws -> FolderLock? {
        let descriptor = try open(name)
        var status = stat()
        guard unsafe fstat(descriptor, &status) == 0 else {
            let code = errno
            close(descriptor)
            throw SQLiteFailure("fstat", code)
        }
        do { try checkOwner(status, of: name) } catch {
            close(descriptor)
            throw error
        }
        guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else {
            let code = errno
            close(descriptor)
            guard code == EWOULDBLOCK || code == EINTR else { throw SQLiteFailure("flock", code) }
            return nil
        }
        return FolderLock(descriptor: descriptor)
    }

    /// Whether a file exists.
    package static func exists(_ path: String) -> Bool { unsafe access(path, F_OK) == 0 }

    /// The identity of a file, which differs from that of another file put in its place.
    package struct FileIdentity: Sendable, Equatable {
        private let device: UInt64
        private let number: UInt64

        fileprivate init(_ status: stat) {
            device = UInt64(truncatingIfNeeded: status.st_dev)
            number = UInt64(status.st_ino)
        }
    }

    /// The identity of a file; `nil` if there is none.
    package static func identity(of path: String) -> FileIdentity? {
        var status = stat()
        return unsafe stat(path, &status) == 0 ? FileIdentity(status) : nil
    }

    /// The path of a file in the folder.
    package func file(_ name: String) -> String { path + "/" + name }

    /// The size of a file; `nil` if there is none. Throws if it is not a regular file of this user.
    package func size(of name: String) throws -> Int64? {
        var status = stat()
        guard unsafe lstat(file(name), &status) == 0 else {
            guard errno == ENOENT else { throw SQLiteFailure("lstat", errno) }
            return nil
        }
        guard status.st_mode & S_IFMT == S_IFREG else {
            throw SQLiteFailure(.untrusted, "\(file(name)) is not a regular file")
        }
        try checkOwner(status, of: file(name))
        return Int64(status.st_size)
    }

    /// Creates an empty file for a database that is being made, and returns its path. SQLite creates the files beside it
    /// with its permissions.
    package func createDraft(_ name: String) throws -> String {
        for end in ["", "-wal", "-shm", "-journal"] where Self.exists(file(name) + end) {
            try FileManager.default.removeItem(atPath: file(name) + end)
        }
        close(try open(name, O_EXCL))
        return file(name)
    }

    /// Gives a complete database its name, durably. Its connection must have been closed: the draft's log is not
    /// renamed.
    package func publishDraft(_ draft: String, as name: String) throws {
        try Self.synchronize(file(draft))
        guard unsafe rename(file(draft), file(name)) == 0 else { throw SQLiteFailure("rename", errno) }
        // The folder: until then, a crash may undo the renaming.
        try Self.synchronize(path)
    }

    /// Waits until the disk has a file, or the names in a folder.
    private static func synchronize(_ path: String) throws {
        #if canImport(Glibc)
        let descriptor = unsafe Glibc.open(path, O_RDONLY | O_CLOEXEC)
        #else
        let descriptor = unsafe Darwin.open(path, O_RDONLY | O_CLOEXEC)
        #endif
        guard descriptor >= 0 else { throw SQLiteFailure("open", errno) }
        defer { close(descriptor) }
        guard fsync(descriptor) == 0 else { throw SQLiteFailure("fsync", errno) }
    }

    /// The folder that a path is in.
    static func parent(of path: String) -> String {
        var end = path[...]
        while end.count > 1, end.last == "/" { end.removeLast() }
        guard let slash = end.lastIndex(of: "/") else { return "." }
        return slash == end.startIndex ? "/" : String(end[..<slash])
    }

    /// Opens a file of the folder to read and write. If missing, it is created with access for its owner only. Links
    /// are not followed.
    package func open(_ name: String, _ flags: CInt = 0) throws -> CInt {
        let flags = flags | O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW
        #if canImport(Glibc)
        let descriptor = unsafe Glibc.open(file(name), flags, 0o600)
        #else
        let descriptor = unsafe Darwin.open(file(name), flags, 0o600)
        #endif
        guard descriptor >= 0 else { throw SQLiteFailure("open \(name)", errno) }
        return descriptor
    }

    /// Throws `untrusted` unless this user owns the file.
    package func checkOwner(_ status: stat, of name: String) throws {
        guard status.st_uid == geteuid() else {
            throw SQLiteFailure(.untrusted, "\(name) belongs to another user")
        }
    }
}

/// A lock of a file, held until it is released, or the process ends: discarding it releases nothing.
package final class FolderLock: Sendable {
    private let descriptor: CInt

    init(descriptor: CInt) { self.descriptor = descriptor }

    /// Call at most once.
    package func release() {
        // Closing alone would leave the lock with a process that is being forked.
        _ = flock(descriptor, LOCK_UN)
        close(descriptor)
    }
}
#endif
