#if DiskCache
import FoundationEssentials
import RxHTTP

#if canImport(Glibc)
import Glibc
#elseif canImport(Darwin)
import Darwin
#endif

/// The folder of a store: one database, which every process that opens the folder uses.
///
/// A corrupt database is not repaired but replaced by one with another name. Names are not reused: SQLite
/// finds the files beside a database by its name, and a process that still has a removed database open would
/// take the files of the new one for its files (https://www.sqlite.org/howtocorrupt.html#unlink).
struct CacheFolder {
    let path: String
    /// How long to wait for another process, in milliseconds.
    let patience: Int

    private static let prefix = "answers-"
    private static let suffix = ".sqlite"
    /// The interval between attempts to take the lock, in milliseconds.
    private static let pause = 5

    /// Runs `body` while no other process, and no other store of this process, opens or replaces a database
    /// in the folder. Creates the folder if needed, for its owner only.
    func locked<Result>(_ body: () throws -> Result) throws -> Result {
        if !Self.exists(path) {
            try FileManager.default.createDirectory(
                atPath: path, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        }
        try checkFolder()
        let lock = try open("lock", O_RDWR | O_CREAT)
        // The end of the process also releases the lock; closing alone would leave it with a process being
        // forked.
        defer {
            _ = flock(lock, LOCK_UN)
            close(lock)
        }
        var status = stat()
        guard unsafe fstat(lock, &status) == 0 else { throw CacheFailure("fstat", errno) }
        try checkOwner(status, of: "lock")
        var waited = 0
        while flock(lock, LOCK_EX | LOCK_NB) != 0 {
            guard errno == EWOULDBLOCK || errno == EINTR else { throw CacheFailure("flock", errno) }
            guard waited < patience else {
                throw CacheFailure(.busy, "another process or store has locked the folder \(path)")
            }
            usleep(UInt32(Self.pause) * 1000)
            waited += Self.pause
        }
        return try body()
    }

    /// The path of the database, which is created, empty, if there is none. Remains of other databases are
    /// removed. Only within ``locked(_:)``.
    func database() throws -> String {
        let names = try FileManager.default.contentsOfDirectory(atPath: path).sorted()
            .filter { $0.hasPrefix(Self.prefix) }
        let current = try names.first { name in try name.hasSuffix(Self.suffix) && isFile(name) }
        for name in names where current.map({ !name.hasPrefix($0) }) ?? true { try remove(name) }
        if let current {
            // SQLite creates the files beside it with its permissions.
            guard unsafe chmod(file(current), 0o600) == 0 else { throw CacheFailure("chmod", errno) }
            return file(current)
        }
        let name = Self.prefix + UUID().uuidString + Self.suffix
        // SQLite creates the files beside it with its permissions.
        close(try open(name, O_RDWR | O_CREAT | O_EXCL))
        return file(name)
    }

    /// Removes a database and the files beside it. Only within ``locked(_:)``.
    func remove(database path: String) throws {
        // The database first, because without it the other files have no effect.
        for end in ["", "-wal", "-shm", "-journal"] where Self.exists(path + end) {
            try FileManager.default.removeItem(atPath: path + end)
        }
    }

    /// Whether the database still exists: another process may have replaced it, or the folder may have been
    /// removed.
    static func exists(_ path: String) -> Bool { unsafe access(path, F_OK) == 0 }

    private func file(_ name: String) -> String { path + "/" + name }

    private func isFile(_ name: String) throws -> Bool {
        var status = stat()
        guard unsafe lstat(file(name), &status) == 0, status.st_mode & S_IFMT == S_IFREG else { return false }
        try checkOwner(status, of: name)
        return true
    }

    /// - Throws: `untrusted` if the folder belongs to another user, or if others can write to it, who could
    ///   put files into it while it is used.
    private func checkFolder() throws {
        var status = stat()
        guard unsafe stat(path, &status) == 0 else { throw CacheFailure("stat", errno) }
        try checkOwner(status, of: "the folder \(path)")
        guard status.st_mode & (S_IWGRP | S_IWOTH) == 0 else {
            throw CacheFailure(
                .untrusted, "other users can write to the folder \(path); remove their write permission")
        }
    }

    private func checkOwner(_ status: stat, of name: String) throws {
        guard status.st_uid == geteuid() else {
            throw CacheFailure(.untrusted, "\(name) belongs to another user")
        }
    }

    private func remove(_ name: String) throws {
        try FileManager.default.removeItem(atPath: file(name))
    }

    private func open(_ name: String, _ flags: CInt) throws -> CInt {
        #if canImport(Glibc)
        let raw = unsafe Glibc.open(file(name), flags | O_CLOEXEC | O_NOFOLLOW, 0o600)
        #else
        let raw = unsafe Darwin.open(file(name), flags | O_CLOEXEC | O_NOFOLLOW, 0o600)
        #endif
        guard raw >= 0 else { throw CacheFailure("open \(name)", errno) }
        return raw
    }
}
#endif
