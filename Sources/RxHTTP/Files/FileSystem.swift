public import RxLite

/// The file operations that bodies, downloads, cookies and caches need.
///
/// Every operation is a cold stream that works away from the subscriber's thread, so that no event loop waits
/// for a disk. An operation that is cancelled after it has begun may still take effect, later. Operations fail
/// with ``NetworkError/Code/file``, with the file and the reason in the message; after a shutdown they fail with
/// ``NetworkError/Code/shutDown``. Subscribe to operations on one path one after another; otherwise their order
/// is undefined.
public protocol FileSystem: Sendable {
    /// The place that the path names, as renaming a file takes it, and whether there is a folder, or a symbolic link to
    /// one. Fails if the folder of the file does not exist. One value, then the end.
    ///
    /// The place is an absolute path without symbolic links, `.`, `..` and empty components, the same for all spellings of
    /// one path: `/d/f`, `/d/./f`, `/d//f`, `/d/e/../f`, `/link/f` if `/link` leads to `/d`, and `f` in the folder `/d`. The
    /// last component may be a symbolic link, unless that leads to a folder: such a link counts as a separate place,
    /// because a new file replaces the link; so does a hard link.
    func locate(_ path: String) -> Observable<(path: String, isFolder: Bool), NetworkError>

    /// The metadata of the file; `nil` if it does not exist. One value, then the end.
    func status(of path: String) -> Observable<FileStatus?, NetworkError>

    /// The bytes from `offset`, at most `count` of them, in chunks; to the end of the file without a count. A
    /// paused subscription stops reading, one chunk ahead.
    ///
    /// - Parameter expected: the status of the file when it was inspected. If the file differs from it, or
    ///   changes before the last chunk is read, the stream fails instead of mixing two versions. A change in place
    ///   within the resolution of the file system's clock that keeps the size is not noticed.
    func read(
        _ path: String, from offset: Int64, count: Int64?, expecting expected: FileStatus?
    ) -> Observable<[UInt8], NetworkError>

    /// The whole content of a small file that this library maintains, such as cookies or a credential; `nil`
    /// if it does not exist. One value, then the end.
    ///
    /// Fails with ``NetworkError/Code/untrustedFile`` if the path is a symbolic link or the file belongs to
    /// another user, and with ``NetworkError/Code/tooLarge`` if it has more than `limit` bytes.
    func contents(of path: String, limit: Int) -> Observable<[UInt8]?, NetworkError>

    /// An appender that truncates the file to `offset` bytes, creates it if needed, and then writes behind them;
    /// ``append(_:to:at:)`` writes a stream with it.
    ///
    /// The file has mode 0600 from then on. A symbolic link at the path, or a file of another user, fails
    /// with ``NetworkError/Code/untrustedFile``.
    func appender(to path: String, at offset: Int64) -> FileAppender

    /// A writer of the bytes from `offset` on, which creates the file if needed. Other bytes stay, so that several writers
    /// fill one file side by side. Its writes emit the offset that they have reached.
    ///
    /// The file has mode 0600 from then on. A symbolic link at the path, or a file of another user, fails
    /// with ``NetworkError/Code/untrustedFile``.
    ///
    /// - Parameter mark: where in the file to store that offset after each write, as 8 bytes, the least significant one
    ///   first. It survives the end of the process; see ``extent(of:from:)`` for the end of the system.
    func writer(to path: String, at offset: Int64, mark: Int64) -> FileAppender

    /// The end of the content that begins at `offset`: the offset of the first byte that was never written, or that a
    /// failure of the system has lost, as far as the file system knows of such holes; otherwise the size of the file. A
    /// hole may begin a few bytes after the last byte that was written. One value, then the end.
    func extent(of path: String, from offset: Int64) -> Observable<Int64, NetworkError>

    /// Replaces the file with `bytes` atomically: writes a file of mode 0600 beside it, syncs it and renames
    /// it. A symbolic link at the path is replaced, not followed. Temporary files that an interrupted process
    /// left beside it are removed. One value, then the end.
    func replace(_ path: String, with bytes: [UInt8]) -> Observable<Void, NetworkError>

    /// Replaces the file with the bytes that `content` makes, as ``replace(_:with:)`` does. An implementation
    /// that writes files on worker threads also makes the bytes there; by default the subscriber's thread
    /// makes them.
    func replace(
        _ path: String, making content: @escaping @Sendable () -> [UInt8]
    ) -> Observable<Void, NetworkError>

    /// Moves the file to another path in the same file system, replaces what is there, and makes the move
    /// durable (`fsync` of the directory). One value, then the end.
    func move(_ path: String, to target: String) -> Observable<Void, NetworkError>

    /// Moves the file to another path in the same file system if there is nothing, and makes the move durable. Emits
    /// whether it has been moved, then ends. Of several moves to one path at the same time, in one process or in several,
    /// one succeeds.
    func move(_ path: String, toNew target: String) -> Observable<Bool, NetworkError>

    /// Locks the file against all others who lock it, in this process and in others, whatever the path by which they
    /// name it, and creates it, empty, if it does not exist. Emits one value, a closure that releases the lock, then
    /// ends. The lock is also released when the closure is discarded.
    ///
    /// Fails with ``NetworkError/Code/locked`` if the lock is held, and with ``NetworkError/Code/untrustedFile`` for a
    /// symbolic link or a file of another user. The lock ends with the process that holds it. A file that is still
    /// empty when the lock is released is removed.
    ///
    /// Bytes may be appended while the lock is held. Once the file has been moved or removed, the lock no longer
    /// protects its old path.
    func lock(_ path: String) -> Observable<@Sendable () -> Void, NetworkError>

    /// Removes the file; a file that does not exist counts as removed. One value, then the end.
    func remove(_ path: String) -> Observable<Void, NetworkError>
}

extension FileSystem {
    /// Makes the bytes when subscribed to, on the subscriber's thread.
    public func replace(
        _ path: String, making content: @escaping @Sendable () -> [UInt8]
    ) -> Observable<Void, NetworkError> {
        .deferred { replace(path, with: content()) }
    }

    /// Truncates the file to `offset` bytes, creating it if needed, and appends the chunks. The chunks are
    /// subscribed to once the file is open. If they arrive faster than they can be written, their stream is
    /// paused.
    ///
    /// Emits the size of the file when it is open and after each write, and ends when everything is on disk
    /// (`fsync`). A failure of `chunks` is passed on once the chunks before it have been written.
    ///
    /// The file has mode 0600 from then on. A symbolic link at the path, or a file of another user, fails
    /// with ``NetworkError/Code/untrustedFile``.
    public func append(
        _ chunks: Observable<[UInt8], NetworkError>, to path: String, at offset: Int64
    ) -> Observable<Int64, NetworkError> {
        Observable(scheduler: appender(to: path, at: offset).scheduler) { observer in
            Appending(chunks, to: appender(to: path, at: offset), into: observer).start()
        }
    }

    /// The bytes from `offset`, at most `count` of them, in chunks, of the file's current content.
    public func read(
        _ path: String, from offset: Int64 = 0, count: Int64? = nil
    ) -> Observable<[UInt8], NetworkError> {
        read(path, from: offset, count: count, expecting: nil)
    }
}

/// The file system of a transport without files: every operation fails.
package struct AbsentFileSystem: FileSystem {
    package init() {}

    private func fail<T>() -> Observable<T, NetworkError> {
        .fail(
            NetworkError(
                .file,
                "the transport has no file system: set ClientConfiguration.files or pass one to the call"))
    }

    package func locate(_ path: String) -> Observable<(path: String, isFolder: Bool), NetworkError> { fail() }

    package func status(of path: String) -> Observable<FileStatus?, NetworkError> { fail() }

    package func read(
        _ path: String, from offset: Int64, count: Int64?, expecting expected: FileStatus?
    ) -> Observable<[UInt8], NetworkError> { fail() }

    package func contents(of path: String, limit: Int) -> Observable<[UInt8]?, NetworkError> { fail() }

    package func appender(to path: String, at offset: Int64) -> FileAppender {
        FileAppender(on: nil, write: { _ in fail() }, finish: { fail() })
    }

    package func writer(to path: String, at offset: Int64, mark: Int64) -> FileAppender {
        appender(to: path, at: offset)
    }

    package func extent(of path: String, from offset: Int64) -> Observable<Int64, NetworkError> { fail() }

    package func replace(_ path: String, with bytes: [UInt8]) -> Observable<Void, NetworkError> { fail() }

    package func move(_ path: String, to target: String) -> Observable<Void, NetworkError> { fail() }

    package func move(_ path: String, toNew target: String) -> Observable<Bool, NetworkError> { fail() }

    package func lock(_ path: String) -> Observable<@Sendable () -> Void, NetworkError> { fail() }

    package func remove(_ path: String) -> Observable<Void, NetworkError> { fail() }
}

/// The metadata of a file.
public struct FileStatus: Sendable, Equatable {
    /// The size in bytes.
    public var size: Int64
    /// The time of the last change to the content, since 1970.
    public var modified: Duration
    /// The number of the file in its file system (inode); 0 if there is none. A file that has replaced another one has
    /// another number, even if size and time are the same.
    public var number: UInt64

    /// Creates a status.
    public init(size: Int64, modified: Duration = .zero, number: UInt64 = 0) {
        self.size = size
        self.modified = modified
        self.number = number
    }
}

/// Part of a file, with the status that the file had when it was inspected.
package struct FilePart: Sendable {
    /// The file system of the file.
    package let files: any FileSystem
    package let path: String
    package let offset: Int64
    package let count: Int64
    /// The status of the file when it was inspected.
    package let status: FileStatus
}
