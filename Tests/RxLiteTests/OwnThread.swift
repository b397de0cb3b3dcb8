#if canImport(Glibc)
import Glibc
#elseif canImport(Darwin)
import Darwin
#endif

/// A thread outside Swift's pool, for work that blocks or never ends, with a stack of a given size.
final class OwnThread: Sendable {
    private final class Work: Sendable {
        let body: @Sendable () -> Void
        init(_ body: @escaping @Sendable () -> Void) { self.body = body }
    }

    private let thread: pthread_t

    /// Starts `body`. The owner of the thread joins it.
    init(stackSize: Int = 1 << 20, _ body: @escaping @Sendable () -> Void) {
        // The pointers are used within this call, except for `work`, which the thread owns.
        var attributes = pthread_attr_t()
        unsafe pthread_attr_init(&attributes)
        unsafe pthread_attr_setstacksize(&attributes, stackSize)
        var thread = pthread_t()
        let work = unsafe Unmanaged.passRetained(Work(body)).toOpaque()
        let code = unsafe pthread_create(
            &thread, &attributes,
            { argument in
                guard let argument = unsafe argument else { return nil }
                unsafe Unmanaged<Work>.fromOpaque(argument).takeRetainedValue().body()
                return nil
            }, work)
        precondition(code == 0, "no thread: \(code)")
        unsafe pthread_attr_destroy(&attributes)
        self.thread = thread
    }

    /// Waits for its end.
    func join() { pthread_join(thread, nil) }

    /// Lets it end by itself, instead of ``join()``.
    func detach() { pthread_detach(thread) }
}

/// Runs `body` on a thread whose stack is 256 KiB, and waits for its end: code that recurses once for each of many
/// values crashes there. Keeps no thread of the pool meanwhile, on which other tests wait.
func runWithSmallStack(_ body: @escaping @Sendable () -> Void) async {
    await withCheckedContinuation { continuation in
        let thread = OwnThread(stackSize: 256 << 10, body)
        OwnThread {
            thread.join()
            continuation.resume()
        }
        .detach()
    }
}
