#if ServiceLifecycle
public import RxLoop
public import ServiceLifecycle

extension EventLoop: Service {
    /// Waits for the shutdown of the service group, or for the task's cancellation, and then ends the loop. Requests
    /// that still run on it fail with `NetworkError.Code.shutDown`.
    ///
    /// Not for `EventLoop.shared`, which belongs to the process.
    @concurrent
    public func run() async throws {
        // A cancellation ends the loop as well.
        _ = try? await gracefulShutdown()
        // Blocks this thread until that of the loop has ended.
        shutDown()
    }
}
#endif
