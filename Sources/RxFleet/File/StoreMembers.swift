#if Fleet
import FoundationEssentials
import RxHTTP
import RxSQLite

#if canImport(Glibc)
import Glibc
#elseif canImport(Darwin)
import Darwin
#endif

/// The stores that have a folder open, as files of it: each locks one as long as it is open, which the kernel unlocks when its
/// process ends. Beside them is the bell, a file that is written to wake the others.
struct StoreMembers {
    /// Distinguishes this store from all others, also from those of this process.
    let id: String
    /// Announces the bell, and the ends of other stores; `nil` if the system has no watches left.
    let watch: FolderWatch?
    private let folder: SQLiteFolder
    /// The lock of this store's file. The file is open to write, so that its end is announced (IN_CLOSE_WRITE).
    private let own: FolderLock
    private let bell: CInt
    private static let bellName = "bell"
    /// Begins the name of a file that its store may not have locked yet.
    private static let draftPrefix = "new-"

    /// Enters this store.
    init(in parent: SQLiteFolder) throws {
        // The names in this folder are the same for all releases.
        let folder = SQLiteFolder(path: parent.file("stores"), patience: .zero)
        try folder.create()
        let id = RandomSource.uuid().uuidString
        // Locked, so that no other store is between the two names of its file while drafts are removed.
        own = try parent.locked {
            try Self.removeDrafts(in: folder)
            return try Self.enter(id, in: folder)
        }
        self.folder = folder
        self.id = id
        do { bell = try folder.open(Self.bellName) } catch {
            own.release()
            throw error
        }
        watch = FolderWatch.begin(folder.path)
    }

    /// Makes the locked file of a store.
    private static func enter(_ id: String, in folder: SQLiteFolder) throws -> FolderLock {
        // Under another name until it is locked: a file that is not locked belongs to a store that has ended.
        guard let own = try folder.lock(draftPrefix + id) else {
            throw SQLiteFailure(.busy, "the file of a new store is locked")
        }
        guard unsafe rename(folder.file(draftPrefix + id), folder.file(id)) == 0 else {
            let code = errno
            own.release()
            throw SQLiteFailure("rename", code)
        }
        return own
    }

    /// Removes the files of stores whose process ended before it had renamed them.
    private static func removeDrafts(in folder: SQLiteFolder) throws {
        for name in try FileManager.default.contentsOfDirectory(atPath: folder.path)
        where name.hasPrefix(draftPrefix) && isUnlocked(folder.file(name)) {
            _ = unsafe unlink(folder.file(name))
        }
    }

    /// Wakes all stores that watch the folder.
    func wake() {
        // What is written does not matter. If it is lost, the others look again after a while.
        _ = unsafe pwrite(bell, [1 as UInt8], 1, 0)
    }

    /// The stores of which there are files, without this one, and without those that `init` has not locked yet.
    func others() throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: folder.path)
            .filter { $0 != Self.bellName && $0 != id && !$0.hasPrefix(Self.draftPrefix) }
    }

    /// Whether the process of a store has ended, or the store has been closed.
    func hasEnded(_ store: String) -> Bool {
        store.contains("/") || Self.isUnlocked(folder.file(store))
    }

    /// Whether no store has locked a file, or there is none.
    private static func isUnlocked(_ path: String) -> Bool {
        // Only to read: the end of a descriptor that can write would wake all stores, which would look again; see
        // ``FolderWatch``.
        #if canImport(Glibc)
        let descriptor = unsafe Glibc.open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW)
        #else
        let descriptor = unsafe Darwin.open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW)
        #endif
        guard descriptor >= 0 else { return errno == ENOENT }
        defer { close(descriptor) }
        // Shared, so that two that look at the same time both find it.
        guard flock(descriptor, LOCK_SH | LOCK_NB) == 0 else { return false }
        _ = flock(descriptor, LOCK_UN)
        return true
    }

    /// Removes the file of a store that has ended.
    func remove(_ store: String) {
        guard !store.contains("/") else { return }
        _ = unsafe unlink(folder.file(store))
    }

    /// Removes this store. Call at most once.
    func leave() {
        _ = unsafe unlink(folder.file(id))
        own.release()
        close(bell)
    }
}
#endif
