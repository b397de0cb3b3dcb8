internal import CLibuv

#if canImport(Glibc)
internal import Glibc
#elseif canImport(Darwin)
internal import Darwin
#endif

/// An open regular file. Every call blocks, so use it in ``EventLoop/work(_:)``.
///
/// ```swift
/// loop.work { () throws(UVError) in try File(reading: path).read(at: 0, count: 4096) }
/// ```
///
/// Threads: any, one at a time. The file is closed when the object is released.
public final class File: @unchecked Sendable {
    // Unchecked: the descriptor is constant, and a thread that still uses the file keeps it open.
    let descriptor: uv_file
    /// Whether there is no disk behind the file system (tmpfs, ramfs).
    public let isInMemory: Bool

    /// Opens a file for reading (`uv_fs_open`).
    public convenience init(reading path: String) throws(UVError) {
        // Without O_NONBLOCK, opening a named pipe waits for its other end.
        try self.init(path, UV_FS_O_RDONLY | UV_FS_O_NONBLOCK)
    }

    /// Opens a file for reading that must belong to this user.
    ///
    /// Throws ``UVError/symbolicLink`` for a symbolic link, and ``UVError/notPermitted`` for a file of another user.
    public convenience init(readingOwn path: String) throws(UVError) {
        try self.init(path, UV_FS_O_RDONLY | UV_FS_O_NONBLOCK | UV_FS_O_NOFOLLOW)
        try checkOwner()
    }

    /// Opens a file for writing, and creates it if needed. It has mode 0600 from then on.
    ///
    /// Throws ``UVError/symbolicLink`` for a symbolic link, and ``UVError/notPermitted`` for a file of another user.
    ///
    /// - Parameter isNew: whether an existing file is an error, ``UVError/alreadyExists``.
    public convenience init(writing path: String, isNew: Bool = false) throws(UVError) {
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
    public func status() throws(UVError) -> Status {
        try unsafe Self.kind({ unsafe uv_fs_fstat(nil, $0, descriptor, nil) }).status
    }

    /// The bytes from `offset` (`uv_fs_read`): `count` of them, fewer only at the end of the file.
    public func read(at offset: Int64, count: Int) throws(UVError) -> [UInt8] {
        var bytes: [UInt8] = []
        try read(at: offset, count: count, into: &bytes)
        return bytes
    }

    /// The same, replacing the content of `bytes`. Unshared memory of the right size is reused, which for
    /// large reads avoids the cost of getting memory from the system.
    public func read(at offset: Int64, count: Int, into bytes: inout [UInt8]) throws(UVError) {
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
    public func write(_ bytes: [UInt8], at offset: Int64) throws(UVError) {
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

    /// Truncates the file, or extends it with zeros (`uv_fs_ftruncate`).
    public func truncate(to size: Int64) throws(UVError) {
        _ = try unsafe Self.call { unsafe uv_fs_ftruncate(nil, $0, descriptor, size, nil) }
    }

    /// Waits until the content is on disk (`uv_fs_fsync`).
    public func synchronize() throws(UVError) {
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
