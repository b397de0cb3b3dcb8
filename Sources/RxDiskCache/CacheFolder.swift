import FoundationEssentials
import RxHTTP

#if canImport(Glibc)
    import Glibc
#elseif canImport(Darwin)
    import Darwin
#endif

/// The folder of a store: one database, which every process that opens the folder uses.
///
/// A database that is broken is not repaired but replaced by one of another name. Names are not used twice, since
/// SQLite finds the files beside a database by its name, and what still has a removed one open would take those of
/// the new one for its own (https://www.sqlite.org/howtocorrupt.html#unlink).
struct CacheFolder {
    let path: String
    /// How long to wait for another process, in milliseconds.
    let patience: Int

    private static let prefix = "answers-"
    private static let suffix = ".sqlite"
    /// Between two looks whether the lock is free, in milliseconds.
    private static let pause = 5

    /// Runs `body` while no other process, and no other store of this one, opens or replaces a database in it. Makes
    /// the folder if there is none, for its owner only.
    func locked<Result>(_ body: () throws -> Result) throws -> Result {
        if !Self.exists(path) {
            try FileManager.default.createDirectory(
                atPath: path, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        }
        try checkFolder()
        let lock = try open("lock", O_RDWR | O_CREAT)
        // The end of the process gives the lock back too; closing alone would leave it to one that is being forked.
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
            guard waited < patience else { throw CacheFailure(.busy, "the folder is locked") }
            usleep(UInt32(Self.pause) * 1000)
            waited += Self.pause
        }
        return try body()
    }

    /// The path of the database, which is made, empty, where there is none. What is left of others is removed.
    /// Only while ``locked(_:)``.
    func database() throws -> String {
        let names = try FileManager.default.contentsOfDirectory(atPath: path).sorted()
            .filter { $0.hasPrefix(Self.prefix) }
        let current = try names.first { name in try name.hasSuffix(Self.suffix) && isFile(name) }
        for name in names where current.map({ !name.hasPrefix($0) }) ?? true { try remove(name) }
        if let current {
            // SQLite makes the files beside it with its permissions.
            guard unsafe chmod(file(current), 0o600) == 0 else { throw CacheFailure("chmod", errno) }
            return file(current)
        }
        let name = Self.prefix + UUID().uuidString + Self.suffix
        // The files that SQLite makes beside it have its permissions.
        close(try open(name, O_RDWR | O_CREAT | O_EXCL))
        return file(name)
    }

    /// Removes a database and what is beside it. Only while ``locked(_:)``.
    func remove(database path: String) throws {
        // It first: without it the others are nothing.
        for end in ["", "-wal", "-shm", "-journal"] where Self.exists(path + end) {
            try FileManager.default.removeItem(atPath: path + end)
        }
    }

    /// Whether the database is still there: another process may have replaced it, or somebody removed the folder.
    static func exists(_ path: String) -> Bool { unsafe access(path, F_OK) == 0 }

    private func file(_ name: String) -> String { path + "/" + name }

    private func isFile(_ name: String) throws -> Bool {
        var status = stat()
        guard unsafe lstat(file(name), &status) == 0, status.st_mode & S_IFMT == S_IFREG else { return false }
        try checkOwner(status, of: name)
        return true
    }

    /// - Throws: `untrusted` for a folder of another user, and for one that others can write to: they could put files
    ///   into it while it is used.
    private func checkFolder() throws {
        var status = stat()
        guard unsafe stat(path, &status) == 0 else { throw CacheFailure("stat", errno) }
        try checkOwner(status, of: "the folder")
        guard status.st_mode & (S_IWGRP | S_IWOTH) == 0 else {
            throw CacheFailure(.untrusted, "others can write to the folder")
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
