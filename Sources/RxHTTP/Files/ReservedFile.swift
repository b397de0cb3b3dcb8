package import RxLite
import Synchronization

/// The path of a file that one writer has to itself, together with the partial file and the record beside it.
///
/// Everything that changes these files goes through its operations. They run to their ends: a disk may carry out a write
/// long after its subscriber has left, and meanwhile no other writer must touch the file. So the path stays reserved
/// until the last of them has ended.
package struct ReservedFile: Sendable {
    /// Where the file is to appear, or the folder in which it gets its name later.
    package let location: (path: String, isFolder: Bool)
    /// The file system of the file.
    package let files: any FileSystem
    private let base: String
    private let reservation: Reservation

    // The documentation of downloads names both endings, and `FileName` removes them from suggested names.

    /// The path of the partial file, which is locked.
    package var draft: String { base + ".part" }

    /// The path of the record about the partial file.
    package var record: String { base + ".part.json" }

    fileprivate init(
        _ location: (path: String, isFolder: Bool), base: String, in files: any FileSystem,
        _ reservation: Reservation
    ) {
        self.location = location
        self.base = base
        self.files = files
        self.reservation = reservation
    }

    /// Truncates the partial file to `offset` bytes and appends the chunks, as ``FileSystem/append(_:to:at:)`` does.
    ///
    /// - Parameter pace: when a batch of them is written. Default: as soon as the one before is.
    package func append(
        _ chunks: Observable<[UInt8], NetworkError>, at offset: Int64, pace: Appending.Pace? = nil
    ) -> Observable<Int64, NetworkError> {
        write(chunks, pace: pace) { files.appender(to: draft, at: offset) }
    }

    /// Writes the chunks to the partial file from `offset` on, as ``FileSystem/writer(to:at:mark:)`` does, and emits the
    /// offset reached. The bytes are durable after the next ``append(_:at:)``, which must begin after ``idle()``.
    ///
    /// - Parameters:
    ///   - highWater: the number of waiting bytes at which the chunks are paused. Many files side by side, or many parts of
    ///     one, need little each.
    ///   - pace: when a batch of them is written.
    package func write(
        _ chunks: Observable<[UInt8], NetworkError>, at offset: Int64, mark: Int64, highWater: Int,
        pace: Appending.Pace
    ) -> Observable<Int64, NetworkError> {
        write(chunks, highWater: highWater, pace: pace) {
            let writer = files.writer(to: draft, at: offset, mark: mark)
            return FileAppender(on: writer.scheduler, writingBatches: writer.write, finish: { .just(()) })
        }
    }

    /// One value once no operation is running, those of streams that have been cancelled included.
    package func idle() -> Observable<Void, NetworkError> { reservation.idle() }

    private func write(
        _ chunks: Observable<[UInt8], NetworkError>, highWater: Int = Appending.highWater,
        pace: Appending.Pace? = nil, by make: @escaping @Sendable () -> FileAppender
    ) -> Observable<Int64, NetworkError> {
        let appender = { @Sendable [self] in
            let appender = make()
            return FileAppender(on: appender.scheduler) { (batch: FileBatch) in
                reservation.whole(appender.write(batch))
            } finish: {
                reservation.whole(appender.finish())
            }
        }
        return Observable(scheduler: appender().scheduler) { observer in
            Appending(chunks, to: appender(), highWater: highWater, pace: pace, into: observer).start()
        }
    }

    /// Replaces the record atomically.
    package func replaceRecord(with bytes: [UInt8]) -> Observable<Void, NetworkError> {
        reservation.whole(files.replace(record, with: bytes))
    }

    /// Removes the record.
    package func removeRecord() -> Observable<Void, NetworkError> { reservation.whole(files.remove(record)) }

    /// Moves the partial file to its location.
    package func moveDraft() -> Observable<Void, NetworkError> {
        reservation.whole(files.move(draft, to: location.path))
    }

    /// Moves the partial file to a name in the folder, unless there is something of that name.
    ///
    /// - Returns: whether it has been moved.
    package func moveDraft(toNew name: String) -> Observable<Bool, NetworkError> {
        reservation.whole(files.move(draft, toNew: location.path.appending(file: name)))
    }
}

extension String {
    /// The path of a file in the folder with this path.
    fileprivate func appending(file name: String) -> String { self == "/" ? self + name : self + "/" + name }
}

extension FileSystem {
    /// Reserves the path, the partial file and the record for the stream that `body` returns, until that has ended and
    /// its operations, too.
    ///
    /// Fails with `file` while another writer has one of the three, in this process, however it spells the path, or in
    /// another. A writer that has left but whose operations are still running is waited for.
    ///
    /// - Parameter draft: the name of the partial file, without its ending, if the path is that of a folder. Default
    ///   `nil`: a folder is an error.
    package func reserving<T>(
        _ path: String, inFolder draft: String? = nil, on scheduler: (any Scheduler)?,
        _ body: @escaping @Sendable (ReservedFile) throws(NetworkError) -> Observable<T, NetworkError>
    ) -> Observable<T, NetworkError> {
        Observable(scheduler: scheduler) { observer in
            let reservation = Reservation(in: self)
            let scope = observer.scope.child()
            // Releases the path before the end, so that a subsequent writer finds it free.
            scope.onClose { reservation.close() }
            locate(path)
                .flatMap(.concat) { location throws(NetworkError) in
                    var base = location.path
                    if location.isFolder {
                        guard let draft else {
                            throw NetworkError(.file, "\(path) is a folder; add the name of a file")
                        }
                        base = location.path.appending(file: draft)
                    }
                    let file = ReservedFile(location, base: base, in: self, reservation)
                    return reservation.take([base, file.draft, file.record], named: path)
                        .flatMap(.concat) { reservation.lock(file.draft) }
                        .map { file }
                }
                .flatMap(.concat) { file throws(NetworkError) in try body(file) }
                .subscribe(
                    Observer(scope: scope, next: observer.next) { completion in
                        scope.close()
                        observer.end(completion)
                    })
        }
    }
}

/// The hold of one writer on its paths.
private final class Reservation: Sendable {
    private struct State {
        /// The number of operations that have begun and not ended.
        var running = 0
        /// Called when no operation is running any more.
        var waiters: [@Sendable () -> Void] = []
        var isClosed = false
        /// The number of the holder of the paths.
        var holder: Int?
        var unlock: (@Sendable () -> Void)?
    }

    // Kept, so that no later file system has the same identity while the paths are reserved.
    private let files: any FileSystem
    private let state = Mutex(State())

    init(in files: any FileSystem) { self.files = files }

    // The operations of a simulated process that is killed never end.
    deinit { release() }

    /// Reserves the paths, which may take until an earlier holder has left them.
    func take(_ paths: [String], named name: String) -> Observable<Void, NetworkError> {
        let type = type(of: files)
        let system = type is AnyClass ? ObjectIdentifier(files as AnyObject) : ObjectIdentifier(type)
        let reserved = paths.map { Reservations.ReservedPath(system: system, path: $0) }
        return Observable { observer in
            observer.scope.perform { self.take(reserved, named: name, for: observer) }
        }
    }

    private func take(
        _ paths: [Reservations.ReservedPath], named name: String, for observer: Observer<Void, NetworkError>
    ) {
        let outcome = Reservations.reserve(paths) {
            observer.scope.enter { self.take(paths, named: name, for: observer) }
        }
        switch outcome {
        case .refused:
            observer.fail(
                NetworkError(.file, "another download to \(name) is running; wait for it or cancel it"))
        case .later: break
        case .reserved(let holder):
            let isHeld = state.withLock { state in
                if !state.isClosed { state.holder = holder }
                return !state.isClosed
            }
            guard isHeld else { return Reservations.leave(holder) }
            observer.emitOnly(.success(()))
        }
    }

    /// Locks the file against other processes.
    func lock(_ path: String) -> Observable<Void, NetworkError> {
        let lock = files.lock(path)
            .mapError { error in
                var error = error
                if error.code == .locked { error.code = .file }
                return error
            }
            .map { [self] unlock in state.withLock { $0.unlock = unlock } }
        return whole(lock)
    }

    /// The operation, whose one value is passed on at its end. It runs to its end even if its subscriber leaves; begun
    /// after the reservation has been closed, it does nothing.
    func whole<T>(_ operation: Observable<T, NetworkError>) -> Observable<T, NetworkError> {
        Observable(scheduler: operation.scheduler) { [self] observer in
            guard observer.scope.isOpen, begin() else { return }
            let value = Mutex<T?>(nil)
            _ = operation.observe(onNext: { new in value.withLock { $0 = new } }) { completion in
                self.end()
                observer.scope.enter {
                    if case .failed(let error) = completion { return observer.emitOnly(.failure(error)) }
                    guard let value = value.withLock({ $0 }) else { return observer.finish() }
                    observer.emitOnly(.success(value))
                }
            }
        }
    }

    private func begin() -> Bool {
        state.withLock { state in
            if !state.isClosed { state.running += 1 }
            return !state.isClosed
        }
    }

    private func end() {
        let (isLast, waiters) = state.withLock { state -> (Bool, [@Sendable () -> Void]) in
            state.running -= 1
            guard state.running == 0 else { return (false, []) }
            defer { state.waiters = [] }
            return (state.isClosed, state.waiters)
        }
        for waiter in waiters { waiter() }
        if isLast { release() }
    }

    func idle() -> Observable<Void, NetworkError> {
        Observable { observer in
            let isIdle = self.state.withLock { state in
                guard state.running > 0 else { return true }
                state.waiters.append { observer.scope.enter { observer.emitOnly(.success(())) } }
                return false
            }
            if isIdle { observer.scope.perform { observer.emitOnly(.success(())) } }
        }
    }

    /// Releases the paths once the running operations have ended.
    func close() {
        let (isIdle, holder) = state.withLock { state in
            state.isClosed = true
            return (state.running == 0, state.holder)
        }
        if isIdle { release() } else if let holder { Reservations.markLeaving(holder) }
    }

    private func release() {
        let (unlock, holder) = state.withLock { state in
            defer { (state.unlock, state.holder) = (nil, nil) }
            return (state.unlock, state.holder)
        }
        unlock?()
        if let holder { Reservations.leave(holder) }
    }
}

/// The reserved paths of the process.
private enum Reservations {
    /// A path on a file system. Equal paths on different file systems differ; file systems that are not objects count
    /// as one per type.
    struct ReservedPath: Hashable {
        let system: ObjectIdentifier
        let path: String
    }

    enum Outcome {
        case reserved(Int)
        /// Another holder has one of the paths.
        case refused
        /// A holder of one of the paths is about to leave.
        case later
    }

    private struct Holder {
        let paths: [ReservedPath]
        var isLeaving = false
        var waiters: [@Sendable () -> Void] = []
    }

    private struct Contents {
        var holders: [Int: Holder] = [:]
        var owners: [ReservedPath: Int] = [:]
        var count = 0
    }

    private static let contents = Mutex(Contents())

    /// Reserves all of the paths or none. `retry` is called if the outcome is `later`, once the holder has left.
    static func reserve(_ paths: [ReservedPath], retry: @escaping @Sendable () -> Void) -> Outcome {
        contents.withLock { contents in
            let owners = paths.compactMap { contents.owners[$0] }
            guard let owner = owners.first else {
                contents.count += 1
                contents.holders[contents.count] = Holder(paths: paths)
                for path in paths { contents.owners[path] = contents.count }
                return .reserved(contents.count)
            }
            guard owners.allSatisfy({ contents.holders[$0]?.isLeaving == true }) else { return .refused }
            contents.holders[owner]?.waiters.append(retry)
            return .later
        }
    }

    /// From now on, writers who want a path of this holder wait for it instead of being refused.
    static func markLeaving(_ holder: Int) { contents.withLock { $0.holders[holder]?.isLeaving = true } }

    static func leave(_ number: Int) {
        let waiters = contents.withLock { contents -> [@Sendable () -> Void] in
            guard let holder = contents.holders.removeValue(forKey: number) else { return [] }
            for path in holder.paths { contents.owners[path] = nil }
            return holder.waiters
        }
        for waiter in waiters { waiter() }
    }
}
