internal import CLibuv
import Synchronization

extension File {
    /// Replaces a file with `bytes` atomically: writes a new file of mode 0600 beside it, syncs it and
    /// renames it. A symbolic link at the path is replaced.
    ///
    /// New files left behind by an interrupted process are removed, once for each path in the life of this
    /// process.
    public static func replace(_ path: String, with bytes: [UInt8]) throws(UVError) {
        removeLeftDrafts(of: path)
        // Another process that removes leftover drafts may mistake a fresh draft for one, so retry a few
        // times.
        for _ in 0..<8 {
            let draft = "\(path).\(String(UInt64.random(in: 0 ... .max), radix: 36))\(draftSuffix)"
            do throws(UVError) {
                let file = try File(writing: draft, isNew: true)
                // Locked while it is written; the draft of a process that has ended is unlocked.
                try file.lock()
                try file.write(bytes, at: 0)
                try file.synchronize()
                guard try exists(draft) else { continue }
                return try rename(draft, to: path)
            } catch {
                // The first error counts; the draft may not exist.
                _ = try? remove(draft)
                guard error == .tryAgain else { throw error }
            }
        }
        throw .tryAgain
    }

    private static let draftSuffix = ".new"
    /// The paths whose leftover drafts have been removed.
    private static let swept = Mutex<Set<String>>([])

    private static func removeLeftDrafts(of path: String) {
        guard swept.withLock({ $0.insert(path).inserted }) else { return }
        let directory = directory(of: path)
        let start = path.split(separator: "/").last.map { $0 + "." } ?? ""
        // A directory that cannot be read keeps its drafts; the write reports the error.
        for name in (try? names(in: directory)) ?? []
        where name.hasPrefix(start) && name.hasSuffix(draftSuffix) {
            let middle = name.dropFirst(start.count).dropLast(draftSuffix.count)
            guard UInt64(middle, radix: 36) != nil else { continue }
            let draft = directory + "/" + name
            // A process that is still writing the draft holds its lock.
            guard let file = try? File(readingOwn: draft), (try? file.lock()) != nil else { continue }
            _ = try? remove(draft)
        }
    }

    private static func exists(_ path: String) throws(UVError) -> Bool {
        do throws(UVError) {
            _ = try status(of: path)
            return true
        } catch .notFound {
            return false
        }
    }

    /// The names in a directory (`uv_fs_scandir`).
    static func names(in directory: String) throws(UVError) -> [String] {
        try check(directory)
        var request = unsafe uv_fs_t()
        defer { unsafe uv_fs_req_cleanup(&request) }
        try UVError.check(unsafe uv_fs_scandir(nil, &request, directory, 0, nil))
        var names: [String] = []
        var entry = unsafe uv_dirent_t()
        while unsafe uv_fs_scandir_next(&request, &entry) == 0 {
            unsafe names.append(String(cString: entry.name))
        }
        return names
    }
}
