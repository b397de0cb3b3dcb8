#if DiskCache || Fleet || Outbox
import Synchronization

#if canImport(Glibc)
import Glibc
#elseif canImport(Darwin)
import Darwin
#endif

/// A thread for work that blocks, which neither an event loop nor the runtime's pool should wait for.
package enum DetachedThread {
    private final class Body: Sendable {
        let run: @Sendable () -> Void
        init(_ run: @escaping @Sendable () -> Void) { self.run = run }
    }

    /// Runs `body` on a new thread, which ends with it.
    ///
    /// - Returns: 0, or the error number of `pthread_create`; `body` does not run then.
    package static func start(_ body: @escaping @Sendable () -> Void) -> CInt {
        #if canImport(Glibc)
        var thread = pthread_t()
        #else
        var thread: pthread_t?
        #endif
        // The new thread takes over this retain; if it cannot be created, the retain is released here.
        let retained = unsafe Unmanaged.passRetained(Body(body))
        let code = unsafe pthread_create(
            &thread, nil,
            { argument in
                #if canImport(Glibc)
                guard let argument = unsafe argument else { return nil }
                #endif
                unsafe Unmanaged<Body>.fromOpaque(argument).takeRetainedValue().run()
                return nil
            }, retained.toOpaque())
        guard code == 0 else {
            unsafe retained.release()
            return code
        }
        #if canImport(Glibc)
        pthread_detach(thread)
        #else
        if let thread { pthread_detach(thread) }
        #endif
        return 0
    }
}

/// Performs pieces of work one batch after another, in the order in which they were added, on a thread that exists
/// while there is work. A slow disk therefore holds up neither an event loop nor a shared thread.
package final class WorkThread<Work: Sendable>: Sendable {
    private struct Queue {
        var waiting: [Work] = []
        var isRunning = false
    }

    private let queue = Mutex(Queue())
    private let perform: @Sendable (_ batch: [Work], _ failure: CInt?) -> Void

    /// Creates a thread without work.
    ///
    /// - Parameter perform: performs what has been added since the last batch, and must not refer to the owner of this object.
    ///   If no thread could be created, it is called on the thread that added the work, with the error number.
    package init(_ perform: @escaping @Sendable (_ batch: [Work], _ failure: CInt?) -> Void) {
        self.perform = perform
    }

    /// Adds work. Returns at once.
    package func add(_ work: Work) {
        let needsThread = queue.withLock { queue in
            queue.waiting.append(work)
            defer { queue.isRunning = true }
            return !queue.isRunning
        }
        guard needsThread else { return }
        let code = DetachedThread.start { self.drain(nil) }
        if code != 0 { drain(code) }
    }

    private func drain(_ failure: CInt?) {
        while true {
            let batch = queue.withLock { queue in
                defer { queue.waiting = [] }
                queue.isRunning = !queue.waiting.isEmpty
                return queue.waiting
            }
            if batch.isEmpty { return }
            perform(batch, failure)
        }
    }
}
#endif
