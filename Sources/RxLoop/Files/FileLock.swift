import CLibuv
import Synchronization

#if canImport(Glibc)
import Glibc
#elseif canImport(Darwin)
import Darwin
#endif

/// Locks a file against everyone else who locks it: others in this process, whatever the path by which they name it, and
/// other processes (`flock`). The lock ends with the process, however that ends.
///
/// Creating one blocks, so do it in ``EventLoop/work(_:)``.
///
/// Threads: any.
package final class FileLock: Sendable {
    private struct Held {
        let file: File
        let path: String
    }

    /// All locks of the process. Nothing waits while holding the mutex.
    private static let held = Mutex<[File.Identity: Held]>([:])

    private let identity: File.Identity
    private let isReleased = Atomic(false)

    /// Takes the lock of the file, and creates the file with mode 0600 if needed.
    ///
    /// Throws ``UVError/tryAgain`` if the lock is held.
    package init(_ path: String) throws(UVError) {
        // The file may be moved or removed between opening and locking, so retry, but not forever.
        for _ in 0..<64 {
            let file = try File(locking: path)
            if let identity = try Self.take(file, at: path) {
                self.identity = identity
                return
            }
        }
        throw .tryAgain
    }

    deinit { release() }

    /// Releases the lock, and removes the file if it is empty. `deinit` calls it too, and only the first call has an
    /// effect: the table has the identity of the file and no owner, so a second call would release the lock of the next
    /// holder in this process.
    package func release() {
        guard !isReleased.exchange(true, ordering: .relaxed) else { return }
        Self.held.withLock { held in
            guard let mine = held.removeValue(forKey: identity) else { return }
            // Closing alone would leave the lock with a process being forked, which has the file open until
            // its exec.
            defer { mine.file.unlock() }
            // Removed before it is unlocked: ``take(_:at:)`` of the next one then sees that the file is gone.
            // A file that cannot be inspected or removed stays.
            guard (try? mine.file.status())?.size == 0, (try? File.identity(of: mine.path)) == identity else {
                return
            }
            _ = try? File.remove(mine.path)
        }
    }

    /// Locks the open file; `nil` if it is no longer the file at the path.
    private static func take(_ file: File, at path: String) throws(UVError) -> File.Identity? {
        let identity = try file.identity()
        let result = held.withLock { held in
            Result { () throws(UVError) -> File.Identity? in
                if held[identity] != nil { throw .tryAgain }
                try file.lock()
                do throws(UVError) {
                    guard try File.identity(of: path) == identity else { return nil }
                } catch .notFound {
                    return nil
                }
                held[identity] = Held(file: file, path: path)
                return identity
            }
        }
        return try result.get()
    }
}

extension File {
    /// Identifies a file regardless of its path.
    struct Identity: Hashable {
        let device, inode: UInt64
    }

    /// The identity of the open file (`uv_fs_fstat`).
    fileprivate func identity() throws(UVError) -> Identity {
        try unsafe Self.identity { unsafe uv_fs_fstat(nil, $0, descriptor, nil) }
    }

    /// The identity of the file at a path (`uv_fs_stat`).
    fileprivate static func identity(of path: String) throws(UVError) -> Identity {
        try unsafe identity { unsafe uv_fs_stat(nil, $0, path, nil) }
    }

    private static func identity(
        _ ask: (UnsafeMutablePointer<uv_fs_t>) -> Int32
    ) throws(UVError) -> Identity {
        var found = uv_stat_t()
        _ = try unsafe call { request in
            let status = unsafe ask(request)
            unsafe found = request.pointee.statbuf
            return status
        }
        return Identity(device: found.st_dev, inode: found.st_ino)
    }

    /// Throws ``UVError/tryAgain`` if another descriptor holds the lock.
    func lock() throws(UVError) {
        while flock(descriptor, LOCK_EX | LOCK_NB) != 0 {
            if errno == EINTR { continue }
            throw errno == EWOULDBLOCK ? .tryAgain : UVError(rawValue: -errno)
        }
    }

    /// Releases the lock, also if other descriptors share this opening of the file.
    fileprivate func unlock() { _ = flock(descriptor, LOCK_UN) }
}
