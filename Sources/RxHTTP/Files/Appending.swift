package import RxLite

/// One running ``FileSystem/append(_:to:at:)``: writes one batch after another, gathers the chunks that
/// arrive meanwhile in the next batch, and pauses their stream when too many bytes wait.
///
/// Chunks are copied into one of two alternating batches and released at once, so that the memory of both
/// chunks and batches is reused. Many small chunks that another thread frees much later would be returned to
/// the system and allocated anew.
package final class Appending: @unchecked Sendable {
    // Unchecked: runs only inside the subscription's lane, which is serial.

    /// Bytes that are gathered, then written.
    package final class Batch: @unchecked Sendable {
        // Unchecked: filled by the one `Appending` that made it or read by its target, by turns.
        package fileprivate(set) var bytes: [UInt8] = []
    }

    /// The destination of the bytes.
    package struct Target: Sendable {
        /// Appends the bytes and emits the resulting size of the file. The first write, which is empty, opens
        /// the file.
        let write: @Sendable (Batch) -> Observable<Int64, NetworkError>
        /// Makes the written bytes durable.
        let finish: @Sendable () -> Observable<Void, NetworkError>

        /// Creates a target.
        package init(
            write: @escaping @Sendable (Batch) -> Observable<Int64, NetworkError>,
            finish: @escaping @Sendable () -> Observable<Void, NetworkError>
        ) {
            self.write = write
            self.finish = finish
        }
    }

    /// The number of waiting bytes at which the source is paused.
    private static let highWater = 512 << 10

    private let chunks: Observable<[UInt8], NetworkError>
    private let target: Target
    private let observer: Observer<Int64, NetworkError>
    private let source: Scope
    private var waiting = Batch()
    /// The batch that is being written; empty if none is.
    private var writing = Batch()
    private var isWriting = false
    private var isPaused = false
    private var completion: Completion<NetworkError>?

    /// Prepares to write.
    package init(
        _ chunks: Observable<[UInt8], NetworkError>, to target: Target,
        into observer: Observer<Int64, NetworkError>
    ) {
        self.chunks = chunks
        self.target = target
        self.observer = observer
        source = observer.scope.child()
    }

    /// Opens the file, then subscribes to the chunks.
    package func start() {
        write { [self] in
            chunks.subscribe(Observer(scope: source, next: { self.receive($0) }, end: { self.receive($0) }))
        }
    }

    private func receive(_ chunk: [UInt8]) {
        waiting.bytes += chunk
        if !isPaused, waiting.bytes.count >= Self.highWater {
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
        guard waiting.bytes.isEmpty else { return writeWaiting() }
        switch completion {
        case .failed(let error): observer.fail(error)
        case .finished: finish()
        case nil: break
        }
    }

    private func writeWaiting() {
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
        run(target.write(writing)) { [self] size in
            observer.next(size)
        } then: { [self] in
            isWriting = false
            writing.bytes.removeAll(keepingCapacity: true)
            complete()
        }
    }

    private func finish() {
        isWriting = true
        run(target.finish()) { _ in
        } then: { [self] in
            observer.finish()
        }
    }

    /// Subscribes within this subscription.
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
