#if ServiceLifecycle && Inspector
public import RxInspector
public import ServiceLifecycle

extension Inspector: Service {
    /// Waits for the shutdown of the service group, or for the task's cancellation, and then stops the inspector, as
    /// `stop()` does.
    public func run() async throws {
        // A cancellation stops the inspector as well.
        _ = try? await gracefulShutdown()
        await stop()
    }
}
#endif
