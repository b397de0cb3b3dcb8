public import RxHTTP
public import RxLite

/// A stage of the pipeline: receives a request, and transforms the stream that the later stages return for
/// it.
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
/// An interceptor can change the request, look at the events, respond itself (``Next/respond(with:)``), wait,
/// fail, or proceed more than once: each subscription to `next(request)` runs the later stages again. The
/// pipeline calls `intercept` anew for each subscription, so its local variables belong to one run. Change a
/// copy of the received request; a new request would lose id, timeouts and the marks of its secrets.
///
/// There are three places for interceptors, see ``Interceptors``. The pipeline calls them on the client's
/// scheduler; they must not block.
public protocol Interceptor: Sendable {
    /// The stream of the request from this stage on.
    ///
    /// - Parameters:
    ///   - request: the request as the earlier stages have left it.
    ///   - call: the state shared by all stages of the call.
    ///   - next: the later stages.
    func intercept(
        _ request: Request, in call: CallContext, _ next: Next
    ) -> Observable<CallEvent, NetworkError>
}

/// The interceptors of a client or an endpoint, by their place. An endpoint's interceptors come after the
/// client's.
///
/// Requests that wait for the same response (``CacheUse/joined``) each go through `call`, and one of them
/// goes through the others. Only equal endpoints (`Hashable`) join an endpoint that has interceptors in
/// `attempt` or `exchange`.
public struct Interceptors: Sendable {
    /// Interceptors around the call: once for each request, outside the cache, the deadline, retries and
    /// relogin. They see the whole validated response, including one from the cache; the events of a stream;
    /// the output of a download or an event source.
    public var call: [any Interceptor]
    /// Interceptors around each attempt: with its credential, at its server. They see the whole response, or
    /// the events of a stream, a download or an event source as they arrive; an unsuccessful status is the
    /// error `status`.
    public var attempt: [any Interceptor]
    /// Interceptors around each exchange on the wire, including each hop of a redirect: with cookies. They
    /// see the events of every response as they arrive.
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

    /// These interceptors, followed by `others`.
    func followed(by others: Interceptors) -> Interceptors {
        Interceptors(
            call: call + others.call, attempt: attempt + others.attempt, exchange: exchange + others.exchange)
    }
}
