package import RxHTTP
package import RxLite
package import RxLoop

/// The files of the machine, read and written on the thread pool of an event loop.
///
/// A file is read in pieces of 512 KiB; while one is consumed, the next is read. Paths that lead to anything
/// but a regular file are refused. The streams run on the loop, and fail with ``NetworkError/Code/shutDown``
/// when the loop is shut down.
package struct LoopFileSystem: FileSystem {
    /// The loop on which results arrive.
    package let loop: EventLoop

    /// Creates a file system.
    package init(loop: EventLoop) { self.loop = loop }

    /// See ``FileSystem/locate(_:)``.
    package func locate(_ path: String) -> Observable<(path: String, isFolder: Bool), NetworkError> {
        work(on: path) { () throws(UVError) in
            let found = try File.location(of: path)
            return (path: found.path, isFolder: found.isFolder)
        }
    }

    /// See ``FileSystem/status(of:)``.
    package func status(of path: String) -> Observable<FileStatus?, NetworkError> {
        work(on: path) { () throws(UVError) in
            do throws(UVError) {
                return FileStatus(try File.status(of: path))
            } catch .notFound {
                return nil
            }
        }
    }

    /// See ``FileSystem/read(_:from:count:expecting:)``.
    package func read(
        _ path: String, from offset: Int64, count: Int64?, expecting expected: FileStatus?
    ) -> Observable<[UInt8], NetworkError> {
        Observable(scheduler: loop) { observer in
            FileReading(self, path, from: offset, count: count, expected, into: observer).start()
        }
    }

    /// See ``FileSystem/contents(of:limit:)``.
    package func contents(of path: String, limit: Int) -> Observable<[UInt8]?, NetworkError> {
        work(on: path) { () throws(UVError) -> (bytes: [UInt8]?, size: Int64) in
            do throws(UVError) {
                let file = try File(readingOwn: path)
                let size = try file.status().size
                // Not `limit` bytes, for which there may be no memory.
                return size > limit ? (nil, size) : (try file.read(at: 0, count: Int(size)), size)
            } catch .notFound {
                return (nil, 0)
            }
        }
        .map { found throws(NetworkError) in
            guard found.size <= limit else {
                throw NetworkError(
                    .tooLarge, "\(path) has \(found.size) bytes, more than the limit of \(limit)")
            }
            return found.bytes
        }
    }

    /// See ``FileSystem/appender(to:at:)``.
    package func appender(to path: String, at offset: Int64) -> FileAppender {
        appender(FileWriter(path, at: offset, mark: nil), path)
    }

    /// See ``FileSystem/writer(to:at:mark:)``.
    package func writer(to path: String, at offset: Int64, mark: Int64) -> FileAppender {
        appender(FileWriter(path, at: offset, mark: mark), path)
    }

    private func appender(_ writer: FileWriter, _ path: String) -> FileAppender {
        FileAppender(
            on: loop,
            writingBatches: { batch in
                work(on: path) { () throws(UVError) in try writer.write(batch.bytes) }
            },
            finish: {
                work(on: path) { () throws(UVError) in try writer.finish() }
            })
    }

    /// See ``FileSystem/extent(of:from:)``.
    package func extent(of path: String, from offset: Int64) -> Observable<Int64, NetworkError> {
        work(on: path) { () throws(UVError) in try File(reading: path).hole(from: offset) }
    }

    /// See ``FileSystem/replace(_:with:)``.
    package func replace(_ path: String, with bytes: [UInt8]) -> Observable<Void, NetworkError> {
        work(on: path) { () throws(UVError) in
            try File.replace(path, with: bytes)
        }
    }

    /// See ``FileSystem/replace(_:making:)``.
    package func replace(
        _ path: String, making content: @escaping @Sendable () -> [UInt8]
    ) -> Observable<Void, NetworkError> {
        work(on: path) { () throws(UVError) in
            try File.replace(path, with: content())
        }
    }

    /// See ``FileSystem/move(_:to:)``.
    package func move(_ path: String, to target: String) -> Observable<Void, NetworkError> {
        work(on: path) { () throws(UVError) in try File.rename(path, to: target) }
    }

    /// See ``FileSystem/move(_:toNew:)``.
    package func move(_ path: String, toNew target: String) -> Observable<Bool, NetworkError> {
        work(on: path) { () throws(UVError) in
            do throws(UVError) {
                try File.rename(path, toNew: target)
                return true
            } catch .alreadyExists {
                return false
            }
        }
    }

    /// See ``FileSystem/lock(_:)``. The lock is advisory (`flock`).
    package func lock(_ path: String) -> Observable<@Sendable () -> Void, NetworkError> {
        loop.work { () throws(UVError) in
            let lock = try FileLock(path)
            return { lock.release() }
        }.mapError { error in
            error == .tryAgain
                ? NetworkError(.locked, "\(path) is locked by another process or another part of this one")
                : Self.error(error, path)
        }
    }

    /// See ``FileSystem/remove(_:)``.
    package func remove(_ path: String) -> Observable<Void, NetworkError> {
        work(on: path) { () throws(UVError) in
            do throws(UVError) {
                try File.remove(path)
            } catch .notFound {
                // Already removed.
            }
        }
    }

    /// Runs `body` on the loop's thread pool.
    func work<T: Sendable>(
        on path: String, _ body: @escaping @Sendable () throws(UVError) -> T
    ) -> Observable<T, NetworkError> {
        loop.work(body).mapError { Self.error($0, path) }
    }

    private static func error(_ error: UVError, _ path: String) -> NetworkError {
        switch error {
        case .canceled: NetworkError(.shutDown, "the file system's event loop has been shut down")
        case .symbolicLink: NetworkError(.untrustedFile, "\(path) is a symbolic link")
        case .notPermitted: NetworkError(.untrustedFile, "\(path) belongs to another user")
        default: NetworkError(.file, "\(path): \(error)")
        }
    }
}

extension FileStatus {
    init(_ status: File.Status) {
        self.init(size: status.size, modified: status.modified, number: status.number)
    }
}

/// Writes to a file. Its calls block, and run one after another.
final class FileWriter: @unchecked Sendable {
    // Unchecked: `Appending` begins a write only when the previous one has ended.
    private let path: String
    private var offset: Int64
    private let mark: Int64?
    private var file: File?

    /// - Parameter mark: where to store the offset after each write; `nil` to append to a file that is cut off there.
    init(_ path: String, at offset: Int64, mark: Int64?) {
        self.path = path
        self.offset = offset
        self.mark = mark
    }

    /// Writes the bytes and returns the offset of their end. The first call opens the file.
    func write(_ bytes: [UInt8]) throws(UVError) -> Int64 {
        let file = if let file { file } else { try open() }
        try file.write(bytes, at: offset)
        offset += Int64(bytes.count)
        if let mark, !bytes.isEmpty {
            // The mark never tells of more than there is. Later processes read it in this form
            // (``FileSystem/writer(to:at:mark:)``).
            try file.write((0..<8).map { UInt8(truncatingIfNeeded: offset >> (8 * $0)) }, at: mark)
        }
        return offset
    }

    /// Waits until all bytes are on the disk, and closes the file.
    func finish() throws(UVError) {
        try file?.synchronize()
        file = nil
    }

    private func open() throws(UVError) -> File {
        let file = try File(writing: path)
        if mark == nil { try file.truncate(to: offset) }
        self.file = file
        return file
    }
}
