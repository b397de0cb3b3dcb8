public import RxLite

/// Writes to one file; made by ``FileSystem/appender(to:at:)`` and ``FileSystem/writer(to:at:mark:)``. Nothing happens before
/// the first write.
public struct FileAppender: Sendable {
    /// The scheduler of the streams, if they have one.
    public let scheduler: (any Scheduler)?
    /// Writes the bytes of a batch behind those before.
    package let write: @Sendable (FileBatch) -> Observable<Int64, NetworkError>
    /// Makes the written bytes durable (`fsync`). One value, then the end.
    package let finish: @Sendable () -> Observable<Void, NetworkError>

    /// Creates an appender from its operations.
    ///
    /// - Parameters:
    ///   - scheduler: the scheduler of the streams, if they have one.
    ///   - write: writes the bytes behind those before, and emits the offset of their end: for an appender the size of the
    ///     file. The first write, which is empty, opens the file. Each write begins after the end of the previous one.
    ///   - finish: makes the written bytes durable (`fsync`). One value, then the end.
    public init(
        on scheduler: (any Scheduler)?,
        write: @escaping @Sendable ([UInt8]) -> Observable<Int64, NetworkError>,
        finish: @escaping @Sendable () -> Observable<Void, NetworkError>
    ) {
        self.init(on: scheduler, writingBatches: { write($0.bytes) }, finish: finish)
    }

    /// Creates an appender that reads a batch while it writes it, so that the memory of its bytes can be used again.
    package init(
        on scheduler: (any Scheduler)?,
        writingBatches write: @escaping @Sendable (FileBatch) -> Observable<Int64, NetworkError>,
        finish: @escaping @Sendable () -> Observable<Void, NetworkError>
    ) {
        self.scheduler = scheduler
        self.write = write
        self.finish = finish
    }
}

/// Bytes that are gathered, then written by a ``FileAppender``.
package final class FileBatch: @unchecked Sendable {
    // Unchecked: filled by the one `Appending` that made it or read by its appender, by turns.

    /// The bytes, constant while they are written.
    package fileprivate(set) var bytes: [UInt8] = []
}

/// One running ``FileSystem/append(_:to:at:)``: writes one batch after another, gathers the chunks that
/// arrive meanwhile in the next batch, and pauses their stream when too many bytes wait.
///
/// Chunks are copied into one of two alternating batches and released at once, so that the memory of both
/// chunks and batches is reused. Many small chunks that another thread frees much later would be returned to
/// the system and allocated anew.
package final class Appending: @unchecked Sendable {
    // Unchecked: runs only inside the subscription's lane, which is serial.

    /// The usual number of waiting bytes at which the source is paused.
    package static let highWater = 512 << 10

    /// When a batch is written that is not the last: many connections bring many small chunks, each of which would be a
    /// write of its own.
    package struct Pace: Sendable {
        /// The bytes of a batch that does not wait for more.
        let size: Int
        /// The time after the last write at which the chunks that wait are written.
        let interval: Duration
        let clock: any Scheduler

        package init(size: Int, interval: Duration, on clock: any Scheduler) {
            (self.size, self.interval, self.clock) = (size, interval, clock)
        }
    }

    private let chunks: Observable<[UInt8], NetworkError>
    private let appender: FileAppender
    private let observer: Observer<Int64, NetworkError>
    private let source: Scope
    private let highWater: Int
    private let pace: Pace?
    private let timer: OperatorTimer?
    /// When the last batch was given to the appender, if there is a pace.
    private var wroteAt: Duration?
    /// Whether what waits is about to be written by a timer.
    private var isTimed = false
    private var waiting = FileBatch()
    /// The batch that is being written; empty if none is.
    private var writing = FileBatch()
    private var isWriting = false
    private var isPaused = false
    private var completion: Completion<NetworkError>?

    /// Prepares to write.
    ///
    /// - Parameters:
    ///   - highWater: the number of waiting bytes at which the source is paused.
    ///   - pace: when a batch is written. Default: as soon as the one before is.
    package init(
        _ chunks: Observable<[UInt8], NetworkError>, to appender: FileAppender, highWater: Int = highWater,
        pace: Pace? = nil, into observer: Observer<Int64, NetworkError>
    ) {
        self.chunks = chunks
        self.appender = appender
        self.observer = observer
        self.highWater = highWater
        self.pace = pace
        timer = pace.map { OperatorTimer($0.clock, in: observer.scope) }
        source = observer.scope.child()
    }

    /// Opens the file, with an empty write, then subscribes to the chunks.
    package func start() {
        write { [self] in
            chunks.subscribe(Observer(scope: source, next: { self.receive($0) }, end: { self.receive($0) }))
        }
    }

    private func receive(_ chunk: [UInt8]) {
        waiting.bytes += chunk
        if !isPaused, waiting.bytes.count >= highWater {
            isPaused = true
            source.pause()
        }
        proceed()
    }

    private func receive(_ completion: Completion<NetworkError>) {
        source.close()
        self.completion = completion
        proceed()
    }

    private func proceed() {
        guard !isWriting, observer.scope.isOpen else { return }
        guard waiting.bytes.isEmpty else { return isDue ? writeWaiting() : writeLater() }
        switch completion {
        case .failed(let error): observer.fail(error)
        case .finished: finish()
        case nil: break
        }
    }

    private var isDue: Bool {
        // A source that is paused sends nothing that could fill the batch.
        guard let pace, completion == nil, !isPaused, waiting.bytes.count < pace.size else { return true }
        return wroteAt.map { pace.clock.now - $0 >= pace.interval } ?? true
    }

    /// Writes what waits at its time, even if no more arrives.
    private func writeLater() {
        guard let pace, let wroteAt, !isTimed else { return }
        isTimed = true
        timer?.set(after: max(.zero, wroteAt + pace.interval - pace.clock.now)) { [self] in
            isTimed = false
            proceed()
        }
    }

    private func writeWaiting() {
        wroteAt = pace?.clock.now
        swap(&waiting, &writing)
        write { [self] in
            // Before the next batch, which includes the chunks that the source sends while it resumes.
            if isPaused {
                isPaused = false
                source.resume()
            }
            proceed()
        }
    }

    private func write(then complete: @escaping @Sendable () -> Void) {
        isWriting = true
        run(appender.write(writing)) { [self] size in
            observer.next(size)
        } then: { [self] in
            isWriting = false
            writing.bytes.removeAll(keepingCapacity: true)
            complete()
        }
    }

    private func finish() {
        isWriting = true
        run(appender.finish()) { _ in
        } then: { [self] in
            observer.finish()
        }
    }

    /// Runs a stream as a step of this one, then `then` if it succeeds; its failure ends this one.
    private func run<T>(
        _ stream: Observable<T, NetworkError>, onNext: @escaping @Sendable (T) -> Void,
        then: @escaping @Sendable () -> Void
    ) {
        let scope = observer.scope.child()
        stream.subscribe(
            Observer(scope: scope, next: onNext) { [observer] completion in
                scope.close()
                guard observer.scope.isOpen else { return }
                if case .failed = completion { return observer.end(completion) }
                then()
            })
    }
}
