public import RxHTTP

/// Closures that accompany requests, for example to show a spinner, measure time or write a log.
///
/// ```swift
/// configuration.options.accessories = [
///     Accessory(willStart: { request in spinner.show(request.id) }, didStop: { request, _ in spinner.hide(request.id) })
/// ]
/// ```
///
/// For each request, regardless of its attempts, logins and redirects, there is exactly one ``willStart``,
/// then one ``willStop``, then one ``didStop``: on success, failure and cancellation. The options of an endpoint, or of
/// one call, add accessories to the client's, or disable them with ``RequestOptions/presentation``. The closures run within the request's stream, on the
/// transport's scheduler, and block it; move slow work, and work for another thread, elsewhere.
public struct Accessory: Sendable {
    /// Called before anything is sent. The request has its id, method and URL; parameters and credentials
    /// come later.
    public var willStart: @Sendable (Request) -> Void
    /// Called when the outcome is known, before the subscriber receives it.
    public var willStop: @Sendable (Request, RequestOutcome) -> Void
    /// Called when the transfer is closed and the subscriber has received everything. An operator that leaves
    /// the request early, such as `take(1)`, may emit its value after this call.
    public var didStop: @Sendable (Request, RequestOutcome) -> Void

    /// Creates an accessory; an omitted closure does nothing.
    public init(
        willStart: @escaping @Sendable (Request) -> Void = { _ in },
        willStop: @escaping @Sendable (Request, RequestOutcome) -> Void = { _, _ in },
        didStop: @escaping @Sendable (Request, RequestOutcome) -> Void = { _, _ in }
    ) {
        self.willStart = willStart
        self.willStop = willStop
        self.didStop = didStop
    }
}
