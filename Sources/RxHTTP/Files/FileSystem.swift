public import RxLite

/// The file operations that bodies, downloads, cookies and caches need.
///
/// Every operation is a cold stream that does its work away from the subscriber's thread, so that no event loop waits
/// for a disk. Operations fail with ``NetworkError/Code/file``, with the file and the reason in the message; after a
/// shutdown they fail with ``NetworkError/Code/shutDown``. Subscribe to operations on one path one after another;
/// otherwise their order is undefined.
public protocol FileSystem: Sendable {
    /// What is known of the file; `nil` where there is none. One value, then the end.
    func status(of path: String) -> Observable<FileStatus?, NetworkError>

    /// The bytes from `offset`, at most `count` of them, in pieces; to the end of the file without a count. A
    /// paused subscription stops reading, one piece ahead.
    ///
    /// - Parameter expected: what the file was like when it was looked at. If it is something else by now, or
    ///   becomes so before the last piece is read, the stream fails instead of sending what does not belong
    ///   together. A change within the grain of the file system's clock that keeps the size is not noticed.
    func read(
        _ path: String, from offset: Int64, count: Int64?, expecting expected: FileStatus?
    ) -> Observable<[UInt8], NetworkError>

    /// The whole of a small file that this library keeps for itself, such as cookies or a credential; `nil` where there
    /// is none. One value, then the end.
    ///
    /// Fails with ``NetworkError/Code/untrustedFile`` if the path is a symbolic link, or the file belongs to another
    /// user, and with ``NetworkError/Code/tooLarge`` if it has more than `limit` bytes.
    func contents(of path: String, limit: Int) -> Observable<[UInt8]?, NetworkError>

    /// Cuts the file to `offset` bytes, creating it where there is none, and writes the chunks behind
    /// them. The chunks are subscribed to once the file is open. Chunks that come faster than they can be written
    /// are held back by pausing their stream.
    ///
    /// Gives the size of the file when it is open and after each write, and ends when everything is on the disk
    /// (`fsync`). A failure of `chunks` is passed on once what came before it has been written.
    ///
    /// The file has mode 0600 from then on. A symbolic link at the path, and a file of another user, fail with
    /// ``NetworkError/Code/untrustedFile``.
    func append(
        _ chunks: Observable<[UInt8], NetworkError>, to path: String, at offset: Int64
    ) -> Observable<Int64, NetworkError>

    /// Puts `bytes` in place of the file, whole or not at all: a file of mode 0600 beside it is written, synced and
    /// renamed. A symbolic link at the path is replaced and not followed. Files beside it that a process left there
    /// when it ended in the middle of this are removed. One value, then the end.
    func replace(_ path: String, with bytes: [UInt8]) -> Observable<Void, NetworkError>

    /// Puts the bytes that `content` makes in place of the file, as ``replace(_:with:)`` does. Where files are written by
    /// threads that may be busy for a while, these make the bytes too; by default the subscriber's does.
    func replace(
        _ path: String, making content: @escaping @Sendable () -> [UInt8]
    ) -> Observable<Void, NetworkError>

    /// Gives the file another path in the same file system, in place of what is there, and makes that last
    /// (`fsync` of the directory). One value, then the end.
    func move(_ path: String, to target: String) -> Observable<Void, NetworkError>

    /// Keeps other processes that do the same away from the file, which is created, empty, where there is none. One
    /// value, which gives it back when it is called, then the end. Fails with ``NetworkError/Code/file`` if another
    /// process has it, and with ``NetworkError/Code/untrustedFile`` for a symbolic link and a file of another user. The
    /// lock goes with the process that has it, and a file that is still empty when it is given back is removed.
    ///
    /// Within the process it keeps nobody away. Bytes may be appended meanwhile; a file that was moved or removed is
    /// not that file any more.
    func lock(_ path: String) -> Observable<@Sendable () -> Void, NetworkError>

    /// Removes the file; one that is not there counts as removed. One value, then the end.
    func remove(_ path: String) -> Observable<Void, NetworkError>
}

extension FileSystem {
    /// Makes the bytes when it is subscribed to.
    public func replace(
        _ path: String, making content: @escaping @Sendable () -> [UInt8]
    ) -> Observable<Void, NetworkError> {
        .deferred { replace(path, with: content()) }
    }

    /// The bytes from `offset`, at most `count` of them, in pieces, of the file's current content.
    public func read(
        _ path: String, from offset: Int64 = 0, count: Int64? = nil
    ) -> Observable<[UInt8], NetworkError> {
        read(path, from: offset, count: count, expecting: nil)
    }
}
