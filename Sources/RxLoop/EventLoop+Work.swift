internal import CLibuv
public import RxLite

extension EventLoop {
    /// The result of `body`, run on a thread of libuv's pool (`uv_queue_work`), for work that would block the
    /// loop, such as disk access and decoding of large documents.
    ///
    /// Each subscription runs it once. Four run at a time in the whole process, unless the environment
    /// variable `UV_THREADPOOL_SIZE` says otherwise. Cancelling drops work that has not begun; work that has
    /// begun runs to its end, and its result is discarded. While the subscriber is paused the result waits.
    /// ``shutDown()`` waits for running work. Work that
    /// is subscribed to later fails with ``UVError/canceled``, or with ``startError`` if the loop could not
    /// be started.
    public func work<T: Sendable>(
        _ body: @escaping @Sendable () throws(UVError) -> T
    ) -> Observable<T, UVError> {
        Observable(scheduler: self) { [self] observer in
            guard observer.scope.isOpen else { return }
            let start: @Sendable () -> Void = { [self] in begin(body, for: observer) }
            if ownsCurrentThread { return start() }
            if !post(start) {
                let error = startError ?? .canceled
                observer.scope.perform { observer.emitOnly(.failure(error)) }
            }
        }
    }

    /// On the loop.
    private func begin<T>(
        _ body: @escaping @Sendable () throws(UVError) -> T, for observer: Observer<T, UVError>
    ) {
        assertCurrent()
        guard observer.scope.isOpen else { return }
        let outcome = Outcome<T>()
        let job = PoolJob(on: self) {
            outcome.result = Result { () throws(UVError) in try body() }
        } onEnd: {
            // Without a result the job was dropped before it began.
            let result = outcome.result ?? .failure(.canceled)
            outcome.result = nil
            observer.scope.enter { observer.emitOnly(result) }
        }
        guard job.start() else { return observer.scope.enter { observer.emitOnly(.failure(.canceled)) } }
        observer.scope.lane.enter { observer.scope.onClose { job.cancel() } }
    }
}

/// The result of a job.
private final class Outcome<T: Sendable>: @unchecked Sendable {
    // Unchecked: written on the pool's thread, and read on the loop after libuv has reported the end of the
    // job.
    var result: Result<T, UVError>?
}
