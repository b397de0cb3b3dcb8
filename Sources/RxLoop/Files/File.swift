import CLibuv
import Synchronization

#if canImport(Glibc)
import Glibc
#elseif canImport(Darwin)
import Darwin
#endif

/// An open regular file. Every call blocks, so use it in ``EventLoop/work(_:)``.
///
/// Threads: any, one at a time. The file is closed when the object is released.
package final class File: @unchecked Sendable {
    // Unchecked: the descriptor is constant, and a thread that still uses the file keeps it open.
    let descriptor: uv_file
    /// Whether there is no disk behind the file system (tmpfs, ramfs).
    package let isInMemory: Bool

    /// Opens a file for reading (`uv_fs_open`).
    package convenience init(reading path: String) throws(UVError) {
        // Without O_NONBLOCK, opening a named pipe waits for its other end.
        try self.init(path, UV_FS_O_RDONLY | UV_FS_O_NONBLOCK)
    }

    /// Opens a file for reading that must belong to this user.
    ///
    /// Throws ``UVError/symbolicLink`` for a symbolic link, and ``UVError/notPermitted`` for a file of another user.
    package convenience init(readingOwn path: String) throws(UVError) {
        try self.init(path, UV_FS_O_RDONLY | UV_FS_O_NONBLOCK | UV_FS_O_NOFOLLOW)
        try checkOwner()
    }

    /// Opens a file for writing, and creates it if needed. It has mode 0600 from then on.
    ///
    /// Throws ``UVError/symbolicLink`` for a symbolic link, and ``UVError/notPermitted`` for a file of another user.
    ///
    /// - Parameter isNew: whether an existing file is an error, ``UVError/alreadyExists``.
    package convenience init(writing path: String, isNew: Bool = false) throws(UVError) {
        let new = isNew ? UV_FS_O_EXCL : 0
        try self.init(path, UV_FS_O_WRONLY | UV_FS_O_CREAT | UV_FS_O_NONBLOCK | UV_FS_O_NOFOLLOW | new)
        try checkOwner()
        try restrict()
    }

    /// Opens a file for locking, and creates it with mode 0600 if needed.
    convenience init(locking path: String) throws(UVError) {
        try self.init(path, UV_FS_O_RDWR | UV_FS_O_CREAT | UV_FS_O_NONBLOCK | UV_FS_O_NOFOLLOW)
        try checkOwner()
    }

    private init(_ path: String, _ flags: Int32) throws(UVError) {
        try Self.check(path)
        descriptor = try uv_file(unsafe Self.call { unsafe uv_fs_open(nil, $0, path, flags, 0o600, nil) })
        isInMemory = rxuv_is_in_memory(descriptor) != 0
        guard try unsafe Self.kind({ unsafe uv_fs_fstat(nil, $0, descriptor, nil) }).isRegular else {
            throw .invalidArgument
        }
    }

    private func checkOwner() throws(UVError) {
        guard try unsafe Self.owner({ unsafe uv_fs_fstat(nil, $0, descriptor, nil) }) == geteuid() else {
            throw .notPermitted
        }
    }

    /// Removes the access of all other users (`uv_fs_fchmod`).
    private func restrict() throws(UVError) {
        _ = try unsafe Self.call { unsafe uv_fs_fchmod(nil, $0, descriptor, 0o600, nil) }
    }

    deinit { _ = try? unsafe Self.call { unsafe uv_fs_close(nil, $0, descriptor, nil) } }

    /// Size and time of the last change (`uv_fs_fstat`).
    package func status() throws(UVError) -> Status {
        try unsafe Self.kind({ unsafe uv_fs_fstat(nil, $0, descriptor, nil) }).status
    }

    /// The bytes from `offset` (`uv_fs_read`): `count` of them, fewer only at the end of the file.
    package func read(at offset: Int64, count: Int) throws(UVError) -> [UInt8] {
        var bytes: [UInt8] = []
        try read(at: offset, count: count, into: &bytes)
        return bytes
    }

    /// Reads `count` bytes from `offset` into `bytes`, whose content they replace (`uv_fs_read`); fewer only at the end
    /// of the file. Unshared memory of the right size is reused, so large reads need no new memory from the system.
    package func read(at offset: Int64, count: Int, into bytes: inout [UInt8]) throws(UVError) {
        if bytes.count != count {
            bytes = unsafe [UInt8](unsafeUninitializedCapacity: max(0, count)) { buffer, filled in
                // The bytes may have any value until the file is read into them.
                filled = buffer.count
            }
        }
        let result = unsafe bytes.withUnsafeMutableBytes { buffer in
            Result { () throws(UVError) in try unsafe fill(buffer, from: offset) }
        }
        let filled = try result.get()
        if filled < bytes.count { bytes.removeLast(bytes.count - filled) }
    }

    private func fill(_ buffer: UnsafeMutableRawBufferPointer, from offset: Int64) throws(UVError) -> Int {
        var filled = 0
        while filled < buffer.count {
            let rest = unsafe UnsafeMutableRawBufferPointer(rebasing: buffer[filled...])
            let got = try unsafe transfer(rest) { request, piece in
                unsafe uv_fs_read(nil, request, descriptor, piece, 1, offset + Int64(filled), nil)
            }
            if got == 0 { break }
            filled += got
        }
        return filled
    }

    /// Writes all of `bytes` from `offset` on (`uv_fs_write`).
    package func write(_ bytes: [UInt8], at offset: Int64) throws(UVError) {
        var written = 0
        while written < bytes.count {
            let start = written
            let result = unsafe bytes.withUnsafeBytes { source in
                // libuv only reads from the buffer.
                let rest = unsafe UnsafeMutableRawBufferPointer(
                    mutating: UnsafeRawBufferPointer(rebasing: source[start...]))
                return Result { () throws(UVError) in
                    try unsafe transfer(rest) { request, piece in
                        unsafe uv_fs_write(nil, request, descriptor, piece, 1, offset + Int64(start), nil)
                    }
                }
            }
            let count = try result.get()
            guard count > 0 else { throw UVError(rawValue: UV_EIO.rawValue) }
            written += count
        }
    }

    /// The offset of the first byte from `offset` on that was never written (`lseek` with `SEEK_HOLE`); the size of the
    /// file if there is none, or if the file system does not know.
    package func hole(from offset: Int64) throws(UVError) -> Int64 {
        let size = try status().size
        guard offset < size else { return size }
        let found = rxuv_find_hole(descriptor, offset)
        return found < 0 ? size : found
    }

    /// Truncates the file, or extends it with zeros (`uv_fs_ftruncate`).
    package func truncate(to size: Int64) throws(UVError) {
        _ = try unsafe Self.call { unsafe uv_fs_ftruncate(nil, $0, descriptor, size, nil) }
    }

    /// Waits until the content is on disk (`uv_fs_fsync`).
    package func synchronize() throws(UVError) {
        _ = try unsafe Self.call { unsafe uv_fs_fsync(nil, $0, descriptor, nil) }
    }

    func transfer(
        _ bytes: UnsafeMutableRawBufferPointer,
        _ call: (UnsafeMutablePointer<uv_fs_t>, UnsafePointer<uv_buf_t>) -> Int32
    ) throws(UVError) -> Int {
        // Linux moves at most 2 GiB at a time; the callers continue with the rest.
        let count = UInt32(clamping: min(bytes.count, 1 << 30))
        let start = unsafe bytes.baseAddress?.assumingMemoryBound(to: CChar.self)
        var piece = unsafe uv_buf_init(start, count)
        return try unsafe Self.call { request in unsafe call(request, &piece) }
    }

    /// The system ends a path at the first NUL; Swift does not.
    static func check(_ path: String) throws(UVError) {
        if path.utf8.contains(0) { throw .invalidArgument }
    }

    /// Makes one `uv_fs_*` call without a loop, that is, synchronously.
    static func call(_ start: (UnsafeMutablePointer<uv_fs_t>) -> Int32) throws(UVError) -> Int {
        var request = unsafe uv_fs_t()
        let status = unsafe start(&request)
        let result = unsafe request.result
        unsafe uv_fs_req_cleanup(&request)
        try UVError.check(status)
        return result
    }
}

extension File {
    /// Reads the bytes from `offset` that the system has in memory, and never waits for a disk (`preadv2`
    /// with `RWF_NOWAIT`). Unlike the other calls it may be made on a loop.
    ///
    /// A file on tmpfs counts as in memory: the read waits for swapped-out pages, as with any other memory of
    /// the process.
    ///
    /// - Returns: the number of bytes, possibly fewer than fit; 0 at the end of the file; `nil` if the read
    ///   would have to wait, or if that is unknown, as on most network file systems and all systems except
    ///   Linux. It is also `nil` on an error, which ``read(at:count:)`` reports.
    package func readCached(at offset: Int64, into buffer: UnsafeMutableRawBufferPointer) -> Int? {
        if isInMemory {
            return try? unsafe transfer(buffer) { request, piece in
                unsafe uv_fs_read(nil, request, descriptor, piece, 1, offset, nil)
            }
        }
        let got = unsafe rxuv_read_cached(descriptor, buffer.baseAddress, buffer.count, offset)
        return got < 0 ? nil : got
    }

    /// Whether the byte at `offset` can be read without waiting.
    package func isCached(at offset: Int64) -> Bool {
        var byte: UInt8 = 0
        return unsafe withUnsafeMutableBytes(of: &byte) { unsafe readCached(at: offset, into: $0) } == 1
    }
}

extension File {
    /// The metadata of a file.
    package struct Status: Sendable, Equatable {
        /// The size in bytes.
        package var size: Int64
        /// The time of the last change to the content, since 1970.
        package var modified: Duration
        /// The number of the file in its file system (inode).
        package var number: UInt64
    }

    /// The status of the regular file at a path (`uv_fs_stat`); ``UVError/notFound`` if nothing is there.
    package static func status(of path: String) throws(UVError) -> Status {
        try check(path)
        let (status, isRegular) = try unsafe kind { unsafe uv_fs_stat(nil, $0, path, nil) }
        guard isRegular else { throw .invalidArgument }
        return status
    }

    /// The place that a path names: the real path of its folder and the last component, or the real path of a folder
    /// (`uv_fs_realpath`).
    ///
    /// ``UVError/notFound`` if the folder of a file does not exist.
    package static func location(of path: String) throws(UVError) -> (path: String, isFolder: Bool) {
        try check(path)
        if try isFolder(path) { return (try realPath(of: path), true) }
        let name = name(of: path)
        guard !name.isEmpty else { throw .notFound }
        let folder = try realPath(of: directory(of: path))
        return (folder == "/" ? "/" + name : folder + "/" + name, false)
    }

    private static func isFolder(_ path: String) throws(UVError) -> Bool {
        do throws(UVError) {
            // `S_IFMT` and `S_IFDIR`.
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
    package static func rename(_ path: String, to target: String) throws(UVError) {
        try check(path)
        try check(target)
        _ = try unsafe call { unsafe uv_fs_rename(nil, $0, path, target, nil) }
        try synchronizeDirectory(of: target)
    }

    /// Moves a file to a path where nothing is, and syncs the change (`renameat2` with `RENAME_NOREPLACE`, `renamex_np`
    /// with `RENAME_EXCL`); ``UVError/alreadyExists`` if there is something.
    ///
    /// In a file system without such a call, an empty file first takes the place.
    package static func rename(_ path: String, toNew target: String) throws(UVError) {
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
    package static func remove(_ path: String) throws(UVError) {
        try check(path)
        _ = try unsafe call { unsafe uv_fs_unlink(nil, $0, path, nil) }
    }

    /// The directory that contains a path.
    static func directory(of path: String) -> String {
        let end = path.utf8.lastIndex(of: UInt8(ascii: "/"))
        return end.map { $0 == path.startIndex ? "/" : String(path[..<$0]) } ?? "."
    }

    /// The part of a path after its last slash, found by bytes as in ``directory(of:)``: a slash and a combining mark after
    /// it are one `Character`.
    private static func name(of path: String) -> String {
        let slash = path.utf8.lastIndex(of: UInt8(ascii: "/"))
        return slash.map { String(path[path.utf8.index(after: $0)...]) } ?? path
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
        let status = Status(
            size: Int64(clamping: found.st_size), modified: modified, number: found.st_ino)
        // `S_IFMT` and `S_IFREG`.
        return (status, found.st_mode & 0o170000 == 0o100000)
    }
}

extension File {
    /// Replaces a file with `bytes` atomically: writes a new file of mode 0600 beside it, syncs it and
    /// renames it. A symbolic link at the path is replaced.
    ///
    /// New files left behind by an interrupted process are removed, once for each path in the life of this
    /// process.
    package static func replace(_ path: String, with bytes: [UInt8]) throws(UVError) {
        removeLeftDrafts(of: path)
        // Another process that removes leftover drafts may mistake a fresh draft for one, so retry a few
        // times.
        for _ in 0..<8 {
            let draft = draft(path + ".", .random(in: 0 ... .max))
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

    /// The name of a draft, by which ``removeLeftDrafts(of:)`` knows those of ended processes. Its number always has 13
    /// digits, nearly always with a letter among them, so that hardly a file that somebody names is taken for one.
    private static func draft(_ start: String, _ number: UInt64) -> String {
        let digits = String(number, radix: 36)
        return start + String(repeating: "0", count: 13 - digits.count) + digits + draftSuffix
    }

    /// The paths whose leftover drafts have been removed.
    private static let swept = Mutex<Set<String>>([])

    private static func removeLeftDrafts(of path: String) {
        guard swept.withLock({ $0.insert(path).inserted }) else { return }
        let directory = directory(of: path)
        let start = name(of: path) + "."
        guard start != "." else { return }
        // A directory that cannot be read keeps its drafts; the write reports the error.
        for name in (try? names(in: directory)) ?? []
        where name.hasPrefix(start) && name.hasSuffix(draftSuffix) {
            let middle = name.dropFirst(start.count).dropLast(draftSuffix.count)
            // Milliseconds since 1970 have 13 digits, too.
            guard middle.contains(where: \.isLetter), let number = UInt64(middle, radix: 36),
                name == draft(start, number)
            else { continue }
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
