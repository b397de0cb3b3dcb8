import Synchronization

#if canImport(Glibc)
import Glibc
#elseif canImport(Darwin)
import Darwin
#endif

/// A thread that can be joined.
public final class JoinableThread: Sendable {
    private final class Start: Sendable {
        let body: @Sendable () -> Void
        let isFinished = Atomic(false)

        init(_ body: @escaping @Sendable () -> Void) { self.body = body }
    }

    private let start: Start
    private let thread: Mutex<pthread_t?>

    /// Starts the thread.
    public init(_ body: @escaping @Sendable () -> Void) throws(SystemError) {
        start = Start(body)
        // The new thread takes over this retain; if there is no new thread, it is released here.
        let retained = unsafe Unmanaged.passRetained(start)
        #if canImport(Glibc)
        var started = pthread_t()
        #else
        var started: pthread_t?
        #endif
        let code = unsafe pthread_create(
            &started, nil,
            { argument in
                #if canImport(Glibc)
                guard let argument = unsafe argument else { return nil }
                #endif
                let start = unsafe Unmanaged<Start>.fromOpaque(argument).takeRetainedValue()
                start.body()
                start.isFinished.store(true, ordering: .releasing)
                return nil
            }, retained.toOpaque())
        guard code == 0 else {
            unsafe retained.release()
            throw SystemError("pthread_create", code: code)
        }
        thread = Mutex(started)
    }

    deinit {
        if let thread = thread.withLock({ $0.take() }) { pthread_detach(thread) }
    }

    /// Whether the body has returned, so that ``join()`` does not wait.
    var isFinished: Bool { start.isFinished.load(ordering: .acquiring) }

    /// Waits for the end of the body. A second call has no effect.
    public func join() {
        guard let thread = thread.withLock({ $0.take() }) else { return }
        pthread_join(thread, nil)
    }
}
