#if DiskCache
import FoundationEssentials
import RxSQLite

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
    private let folder: SQLiteFolder

    init(_ folder: SQLiteFolder) { self.folder = folder }

    /// The path.
    var path: String { folder.path }

    /// How long to wait for another process, in milliseconds.
    var patience: Int { folder.patience }

    // Processes of all releases find the database by these. All other files with the prefix are removed, so the file
    // that ``SQLiteFolder`` locks must not have it.
    private static let prefix = "answers-"
    private static let suffix = ".sqlite"

    /// Runs `body` while no other process, and no other store of this process, opens or replaces a database
    /// in the folder. Creates the folder if needed, for its owner only.
    func locked<Result>(_ body: () throws -> Result) throws -> Result { try folder.locked(body) }

    /// The path of the database, which is created, empty, if there is none. Remains of other databases are
    /// removed. Only within ``locked(_:)``.
    func database() throws -> String {
        let names = try FileManager.default.contentsOfDirectory(atPath: path).sorted()
            .filter { $0.hasPrefix(Self.prefix) }
        let current = try names.first { name in try name.hasSuffix(Self.suffix) && isFile(name) }
        for name in names where current.map({ !name.hasPrefix($0) }) ?? true { try remove(name) }
        if let current {
            // SQLite creates the files beside it with its permissions.
            guard unsafe chmod(folder.file(current), 0o600) == 0 else { throw SQLiteFailure("chmod", errno) }
            return folder.file(current)
        }
        let name = Self.prefix + UUID().uuidString + Self.suffix
        // SQLite creates the files beside it with its permissions.
        close(try folder.open(name, O_EXCL))
        return folder.file(name)
    }

    /// Removes a database and the files beside it. Only within ``locked(_:)``.
    func remove(database path: String) throws {
        // The database first, because without it the other files have no effect.
        for end in ["", "-wal", "-shm", "-journal"] where SQLiteFolder.exists(path + end) {
            try FileManager.default.removeItem(atPath: path + end)
        }
    }

    private func isFile(_ name: String) throws -> Bool {
        var status = stat()
        guard unsafe lstat(folder.file(name), &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
            return false
        }
        try folder.checkOwner(status, of: name)
        return true
    }

    private func remove(_ name: String) throws {
        try FileManager.default.removeItem(atPath: folder.file(name))
    }
}
#endif
