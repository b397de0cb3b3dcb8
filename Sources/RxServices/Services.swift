#if ServiceLifecycle
public import RxClient
import RxLite
public import RxLoop
public import ServiceLifecycle

#if Inspector
public import RxInspector
#endif
#if Outbox
public import RxOutbox
#endif

// What runs in a service group of ServiceLifecycle: a loop, a client, an outbox and an inspector.

extension Client: Service {
    // The page `ServiceLifecycle.md` says 30 seconds, too.

    /// Waits for the shutdown of the service group, and then lets the running requests end, within 30 seconds.
    ///
    /// ```swift
    /// let group = ServiceGroup(services: [loop, client, shop], logger: logger)
    /// ```
    ///
    /// The group shuts its services down in the reverse order, so name the client after its loop, and before the
    /// services that send requests.
    public func run() async throws { try await run(endingRequestsWithin: .seconds(30)) }

    /// Waits for the shutdown of the service group, and then refuses new requests with
    /// `NetworkError.Code.shutDown` and lets the running ones end; see `shutDown(within:)`. Returns when no request
    /// is running. If the task is cancelled, the requests are cancelled at once.
    ///
    /// - Parameter limit: the time that requests may take to end. Requests still running then are cancelled.
    public func run(endingRequestsWithin limit: Duration) async throws {
        var limit = limit
        // Cancelled without a shutdown, for example because another service failed.
        do { try await gracefulShutdown() } catch { limit = .zero }
        await withTaskCancellationHandler {
            await withCheckedContinuation { ended in
                // Not awaited by the task, which may have been cancelled.
                shutDown(within: limit).subscribe(onFinish: { ended.resume() })
            }
        } onCancel: {
            cancel(.all)
        }
    }
}

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

#if Outbox
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

#if Inspector
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
#else
public import RxClient

extension Client {
    /// Not available without the package's trait `ServiceLifecycle`.
    @available(
        *, unavailable, message: "RxServices needs the trait ServiceLifecycle of the package RxNetworking"
    )
    public func run() async throws {
        // The compiler refuses every call.
        fatalError("unavailable")
    }
}
#endif
