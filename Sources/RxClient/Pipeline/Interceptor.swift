public import RxHTTP
public import RxLite

/// A stage of the pipeline: gets a request, and transforms the stream that the later stages return for it.
///
/// ```swift
/// struct Timing: Interceptor {
///     func intercept(
///         _ request: Request, in call: CallContext, _ next: Next
///     ) -> Observable<CallEvent, NetworkError> {
///         let start = call.scheduler.now
///         return next(request).handleEvents(onEnd: { _ in report(request.url, call.scheduler.now - start) })
///     }
/// }
/// configuration.options.interceptors.attempt.append(Timing())
/// ```
///
/// An interceptor can change the request, look at the events, respond on its own (``Next/respond(with:)``), wait, fail, or
/// proceed more than once: each subscription to `next(request)` runs the later stages again. It is asked anew for each
/// subscription, so its local variables belong to one run. Change a copy of the request that it gets; a new one would
/// lose id, timeouts and the marks of what is secret. The client's own stages conform to this protocol too.
///
/// There are three places for it, see ``Interceptors``. It is called on the client's scheduler and must not block.
public protocol Interceptor: Sendable {
    /// The stream of the request from this stage on.
    ///
    /// - Parameters:
    ///   - request: the request as the earlier stages have left it.
    ///   - call: what all stages of the call have in common.
    ///   - next: the later stages.
    func intercept(
        _ request: Request, in call: CallContext, _ next: Next
    ) -> Observable<CallEvent, NetworkError>
}

/// The interceptors of a client or an endpoint, by their place. Those of an endpoint come after those of its client.
///
/// Requests that wait for the same response (``CacheUse/joined``) each go through `call`, and one of them goes
/// through the others. An endpoint with own interceptors in `attempt` or `exchange` is joined only by equal endpoints
/// (`Hashable`).
public struct Interceptors: Sendable {
    /// Around the call: once for each request, outside the cache, the deadline, retries and relogin. They see the whole
    /// response, validated, also where it comes from the cache; of a stream its events; of a download or event source
    /// its output.
    public var call: [any Interceptor]
    /// Around each attempt: with its credential, at its server. They see the whole response, or, of a stream, a download
    /// or event source, its events as they arrive; a status that is no success is the error `status`.
    public var attempt: [any Interceptor]
    /// Around each exchange on the wire, so also around each hop of a redirect: with cookies. They see the events of every
    /// response as they arrive.
    public var exchange: [any Interceptor]

    /// Creates interceptors.
    public init(
        call: [any Interceptor] = [], attempt: [any Interceptor] = [], exchange: [any Interceptor] = []
    ) {
        self.call = call
        self.attempt = attempt
        self.exchange = exchange
    }

    enum Place {
        case call
        case attempt
        case exchange
    }

    subscript(place: Place) -> [any Interceptor] {
        switch place {
        case .call: call
        case .attempt: attempt
        case .exchange: exchange
        }
    }

    var isEmpty: Bool { call.isEmpty && attempt.isEmpty && exchange.isEmpty }

    /// These, and `others` after them.
    func followed(by others: Interceptors) -> Interceptors {
        Interceptors(
            call: call + others.call, attempt: attempt + others.attempt, exchange: exchange + others.exchange)
    }
}
