internal import CLibuv

extension File {
    /// The metadata of a file.
    public struct Status: Sendable, Equatable {
        /// The size in bytes.
        public var size: Int64
        /// The time of the last change to the content, since 1970.
        public var modified: Duration
    }

    /// The status of the regular file at a path (`uv_fs_stat`); ``UVError/notFound`` if nothing is there.
    public static func status(of path: String) throws(UVError) -> Status {
        try check(path)
        let (status, isRegular) = try unsafe kind { unsafe uv_fs_stat(nil, $0, path, nil) }
        guard isRegular else { throw .invalidArgument }
        return status
    }

    /// The place that a path names: the real path of its folder and the last component, or the real path of a folder
    /// (`uv_fs_realpath`).
    ///
    /// ``UVError/notFound`` if the folder of a file does not exist.
    public static func location(of path: String) throws(UVError) -> (path: String, isFolder: Bool) {
        try check(path)
        if try isFolder(path) { return (try realPath(of: path), true) }
        guard let name = path.split(separator: "/", omittingEmptySubsequences: false).last, !name.isEmpty
        else {
            throw .notFound
        }
        let folder = try realPath(of: directory(of: path))
        return (folder == "/" ? "/" + name : folder + "/" + name, false)
    }

    private static func isFolder(_ path: String) throws(UVError) -> Bool {
        do throws(UVError) {
            return try unsafe mode { unsafe uv_fs_stat(nil, $0, path, nil) } & 0o170000 == 0o040000
        } catch .notFound {
            return false
        }
    }

    private static func realPath(of path: String) throws(UVError) -> String {
        var request = unsafe uv_fs_t()
        defer { unsafe uv_fs_req_cleanup(&request) }
        try UVError.check(unsafe uv_fs_realpath(nil, &request, path, nil))
        guard let found = unsafe request.ptr else { throw .notFound }
        // libuv stores the path as a C string.
        return unsafe String(cString: found.assumingMemoryBound(to: CChar.self))
    }

    private static func mode(_ ask: (UnsafeMutablePointer<uv_fs_t>) -> Int32) throws(UVError) -> UInt64 {
        var mode: UInt64 = 0
        _ = try unsafe call { request in
            let status = unsafe ask(request)
            unsafe mode = request.pointee.statbuf.st_mode
            return status
        }
        return mode
    }

    /// Moves a file to another path, replaces an existing file there, and syncs the change (`uv_fs_rename`, and
    /// `uv_fs_fsync` of the directory).
    public static func rename(_ path: String, to target: String) throws(UVError) {
        try check(path)
        try check(target)
        _ = try unsafe call { unsafe uv_fs_rename(nil, $0, path, target, nil) }
        try synchronizeDirectory(of: target)
    }

    /// Moves a file to a path where nothing is, and syncs the change (`renameat2` with `RENAME_NOREPLACE`, `renamex_np`
    /// with `RENAME_EXCL`); ``UVError/alreadyExists`` if there is something.
    ///
    /// In a file system without such a call, an empty file first takes the place.
    public static func rename(_ path: String, toNew target: String) throws(UVError) {
        try check(path)
        try check(target)
        let result = unsafe UVError(rawValue: rxuv_rename_new(path, target))
        guard [.invalidArgument, .notSupported, .notImplemented].contains(result) else {
            try UVError.check(result.rawValue)
            return try synchronizeDirectory(of: target)
        }
        _ = try File(writing: target, isNew: true)
        do throws(UVError) {
            try rename(path, to: target)
        } catch {
            // The first error counts.
            _ = try? remove(target)
            throw error
        }
    }

    /// Removes a file (`uv_fs_unlink`); ``UVError/notFound`` if it does not exist.
    public static func remove(_ path: String) throws(UVError) {
        try check(path)
        _ = try unsafe call { unsafe uv_fs_unlink(nil, $0, path, nil) }
    }

    /// The directory that contains a path.
    static func directory(of path: String) -> String {
        let end = path.lastIndex(of: "/")
        return end.map { $0 == path.startIndex ? "/" : String(path[..<$0]) } ?? "."
    }

    private static func synchronizeDirectory(of path: String) throws(UVError) {
        let directory = directory(of: path)
        let descriptor = try uv_file(
            unsafe call { unsafe uv_fs_open(nil, $0, directory, UV_FS_O_RDONLY, 0, nil) })
        defer { _ = try? unsafe call { unsafe uv_fs_close(nil, $0, descriptor, nil) } }
        do throws(UVError) {
            _ = try unsafe call { unsafe uv_fs_fsync(nil, $0, descriptor, nil) }
        } catch .invalidArgument {
            // The file system does not sync directories.
        }
    }

    /// The user who owns a file.
    static func owner(_ ask: (UnsafeMutablePointer<uv_fs_t>) -> Int32) throws(UVError) -> UInt64 {
        var owner: UInt64 = 0
        _ = try unsafe call { request in
            let status = unsafe ask(request)
            unsafe owner = request.pointee.statbuf.st_uid
            return status
        }
        return owner
    }

    /// The status of a file, and whether it is a regular file.
    static func kind(
        _ ask: (UnsafeMutablePointer<uv_fs_t>) -> Int32
    ) throws(UVError) -> (status: Status, isRegular: Bool) {
        var found = uv_stat_t()
        _ = try unsafe call { request in
            let status = unsafe ask(request)
            unsafe found = request.pointee.statbuf
            return status
        }
        let modified = Duration.seconds(found.st_mtim.tv_sec) + .nanoseconds(found.st_mtim.tv_nsec)
        let status = Status(size: Int64(clamping: found.st_size), modified: modified)
        return (status, found.st_mode & 0o170000 == 0o100000)
    }
}
