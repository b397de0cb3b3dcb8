#if DiskCache
import RxHTTP
import Synchronization

#if canImport(Glibc)
import Glibc
#elseif canImport(Darwin)
import Darwin
#endif

/// Runs pieces of work one after another, in the order in which they were added, on a thread that exists
/// while there is work. A slow disk therefore holds up neither an event loop nor a shared thread.
final class DiskThread: Sendable {
    /// A piece of work. `refusal` is the error if no thread could be created for it.
    typealias Work = @Sendable (_ refusal: NetworkError?) -> Void

    private struct Queue {
        var waiting: [Work] = []
        var isRunning = false
    }

    private let queue = Mutex(Queue())

    /// Adds work. Returns at once.
    func run(_ work: @escaping Work) {
        let needsThread = queue.withLock { queue in
            queue.waiting.append(work)
            defer { queue.isRunning = true }
            return !queue.isRunning
        }
        guard needsThread else { return }
        let code = start()
        guard code != 0 else { return }
        drain(refusal: NetworkError(.file, "no thread could be created for the disk cache: error \(code)"))
    }

    private func start() -> CInt {
        #if canImport(Glibc)
        var thread = pthread_t()
        #else
        var thread: pthread_t?
        #endif
        // The new thread takes over this retain; if it cannot be created, the retain is released here.
        let retained = unsafe Unmanaged.passRetained(self)
        let code = unsafe pthread_create(
            &thread, nil,
            { argument in
                #if canImport(Glibc)
                guard let argument = unsafe argument else { return nil }
                #endif
                unsafe Unmanaged<DiskThread>.fromOpaque(argument).takeRetainedValue().drain(refusal: nil)
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

    private func drain(refusal: NetworkError?) {
        while true {
            let work = queue.withLock { queue in
                let work = queue.waiting
                queue.waiting = []
                queue.isRunning = !work.isEmpty
                return work
            }
            if work.isEmpty { return }
            for piece in work { piece(refusal) }
        }
    }
}
#endif
