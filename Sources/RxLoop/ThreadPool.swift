import CLibuv
public import RxLite
import Synchronization

extension EventLoop {
    /// The result of `body`, run on a thread of libuv's pool (`uv_queue_work`), for work that would block the
    /// loop, such as disk access and decoding of large documents.
    ///
    /// ```swift
    /// loop.work { document.split(separator: 10).count }
    /// ```
    ///
    /// Each subscription runs it once. Four run at a time in the whole process, unless the environment variable
    /// `UV_THREADPOOL_SIZE` sets another number. Cancelling drops work that has not begun; work that has begun runs to
    /// its end, and its result is discarded. While the subscriber is paused the result waits. ``shutDown()`` waits for
    /// running work. Work that is subscribed to later fails with ``UVError/canceled``, or with ``startError`` if the
    /// loop could not be started.
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

/// One piece of work in libuv's thread pool (`uv_work_t`).
@safe
final class PoolJob: @unchecked Sendable {
    // Unchecked: accessed on the loop only, except `body`, which is constant.
    // Safe: the request is valid from init to deinit, and libuv retains the job until its end.
    private let request: UnsafeMutablePointer<uv_work_t>
    private let loop: EventLoop
    private let body: @Sendable () -> Void
    private let onEnd: () -> Void
    /// Whether libuv has the request: from ``start()`` to ``end()``, also while the work waits for a thread.
    private var isRunning = false

    /// - Parameters:
    ///   - body: the work; it runs on a thread of the pool, or not at all if it is cancelled before.
    ///   - onEnd: called once on the loop if the job was started, cancelled or not.
    init(on loop: EventLoop, body: @escaping @Sendable () -> Void, onEnd: @escaping () -> Void) {
        unsafe request = .allocate(capacity: 1)
        unsafe request.initialize(to: uv_work_t())
        self.loop = loop
        self.body = body
        self.onEnd = onEnd
    }

    deinit { unsafe request.deallocate() }

    /// Queues the work; false if the loop is ending and accepts no more. On the loop.
    func start() -> Bool {
        loop.preconditionCurrent()
        guard !loop.isEnding else { return false }
        let base = unsafe UnsafeMutableRawPointer(request).assumingMemoryBound(to: uv_req_t.self)
        unsafe uv_req_set_data(base, Unmanaged.passRetained(self).toOpaque())
        let status = unsafe uv_queue_work(loop.raw, request) { request in
            unsafe PoolJob.behind(request)?.takeUnretainedValue().run()
        } _: { request, _ in
            guard let job = unsafe PoolJob.behind(request)?.takeRetainedValue() else { return }
            job.end()
        }
        // It fails only without a function to run.
        precondition(status == 0, "uv_queue_work: \(UVError(rawValue: status))")
        isRunning = true
        loop.jobCount += 1
        return true
    }

    /// On a thread of the pool.
    private func run() {
        let thread = EventLoop.currentThread
        _ = loop.jobThreads.withLock { $0.insert(thread) }
        body()
        _ = loop.jobThreads.withLock { $0.remove(thread) }
    }

    /// Drops the work if it has not begun (`uv_cancel`). From any thread.
    func cancel() {
        guard loop.ownsCurrentThread else {
            // A loop that has ended has no jobs left.
            _ = loop.post { self.cancel() }
            return
        }
        guard isRunning else { return }
        let base = unsafe UnsafeMutableRawPointer(request).assumingMemoryBound(to: uv_req_t.self)
        unsafe _ = uv_cancel(base)
    }

    private func end() {
        loop.assertCurrent()
        isRunning = false
        loop.jobCount -= 1
        onEnd()
    }

    private static func behind(_ request: UnsafeMutablePointer<uv_work_t>?) -> Unmanaged<PoolJob>? {
        guard let request = unsafe request else { return nil }
        let base = unsafe UnsafeMutableRawPointer(request).assumingMemoryBound(to: uv_req_t.self)
        return unsafe uv_req_get_data(base).map { unsafe Unmanaged<PoolJob>.fromOpaque($0) }
    }
}
