#if ServiceLifecycle
public import RxClient
import RxLite
public import ServiceLifecycle

extension Client: Service {
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
