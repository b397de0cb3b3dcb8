#if canImport(Glibc)
    import Glibc
#elseif canImport(Darwin)
    import Darwin
#endif

/// Runs `body` on a thread whose stack is 256 KiB, and waits for it: what recurses once for each of many
/// values crashes there.
func runWithSmallStack(_ body: @escaping @Sendable () -> Void) {
    // The pointers are made, used and given back within this call; the thread has ended by then.
    final class Work {
        let body: @Sendable () -> Void
        init(_ body: @escaping @Sendable () -> Void) { self.body = body }
    }
    var attributes = pthread_attr_t()
    unsafe pthread_attr_init(&attributes)
    unsafe pthread_attr_setstacksize(&attributes, 256 << 10)
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
    pthread_join(thread, nil)
    unsafe pthread_attr_destroy(&attributes)
}
