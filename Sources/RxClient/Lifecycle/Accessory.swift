public import RxHTTP

/// Closures that accompany requests: a spinner, a measurement, a line in a journal.
///
/// ```swift
/// configuration.accessories = [
///     Accessory(willStart: { request in spinner.show(request.id) }, didStop: { request, _ in spinner.hide(request.id) })
/// ]
/// ```
///
/// For each request, however many attempts, logins and redirects it takes, there is exactly one ``willStart``, then
/// one ``willStop``, then one ``didStop``: on success, failure and cancel. An endpoint leaves them out by its
/// ``RequestOptions/presentation``. They run within the request's stream and hold it up, on the transport's scheduler; what
/// takes its time or belongs elsewhere goes there.
public struct Accessory: Sendable {
    /// Before anything is sent. The request has its id, method and URL; parameters and credentials come later.
    public var willStart: @Sendable (Request) -> Void
    /// When the outcome is known, and before the subscriber gets it.
    public var willStop: @Sendable (Request, RequestOutcome) -> Void
    /// When the transfer is closed, and the subscriber has got everything; or what is left to it, where an operator
    /// such as `take(1)` leaves the request before it hands the value on.
    public var didStop: @Sendable (Request, RequestOutcome) -> Void

    /// Creates an accessory; what is left out does nothing.
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
