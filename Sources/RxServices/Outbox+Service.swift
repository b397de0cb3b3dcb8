#if ServiceLifecycle && Outbox
import RxLite
public import RxOutbox
public import ServiceLifecycle

extension Outbox: Service {
    /// Waits for the shutdown of the service group, and then drains the outbox within 10 seconds.
    ///
    /// ```swift
    /// let group = ServiceGroup(services: [loop, client, outbox, shop], logger: logger)
    /// ```
    ///
    /// The group shuts its services down in the reverse order, so name the outbox after its client, and before the
    /// services that write entries.
    public func run() async throws { try await run(drainingWithin: .seconds(10)) }

    /// Waits for the shutdown of the service group, and then drains the outbox; see `drain(within:)`. If the task is
    /// cancelled, running attempts are cancelled at once.
    ///
    /// - Parameter limit: the time that the entries that are due may take.
    public func run(drainingWithin limit: Duration) async throws {
        var limit = limit
        // Cancelled without a shutdown, for example because another service failed.
        do { try await gracefulShutdown() } catch { limit = .zero }
        await withTaskCancellationHandler {
            await withCheckedContinuation { ended in
                // Not awaited by the task, which may have been cancelled.
                drain(within: limit).subscribe(onFinish: { ended.resume() })
            }
        } onCancel: {
            drain(within: .zero).subscribe()
        }
    }
}
#endif
