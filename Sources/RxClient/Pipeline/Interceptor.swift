import HTTPTypes
public import RxHTTP
public import RxLite

/// The app's part of the pipeline: receives a request, and transforms the stream that the later stages return for
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
/// An interceptor can change the request, inspect the events, respond itself (``Next/respond(with:)``), wait, fail, or
/// proceed more than once: each subscription to `next(request)` runs the later stages again. The pipeline calls
/// `intercept` anew for each subscription, so its local variables belong to one run. Change a copy of the received
/// request; a new request would lose id, timeouts and the marks of its secrets.
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
/// Requests that wait for the same response (``Response/CacheUse/joined``) each go through `call`, and one of them
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

    // A new place also counts in `isEmpty` and `followed(by:)`, in ``CoalescingKey`` if it is below `Caching`, and
    // needs a row in `Pipeline`.
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

// MARK: - The later stages

/// The later stages of the pipeline, as a stage sees them.
public struct Next: Sendable {
    private let call: CallContext
    private let index: Int
    private let context: AttemptContext
    /// The request that an app's stage received, if this continues it.
    private let received: Request?

    /// The stages of a call from `index` on.
    init(
        of call: CallContext, at index: Int = 0, _ context: AttemptContext = .start, received: Request? = nil
    ) {
        self.call = call
        self.index = index
        self.context = context
        self.received = received
    }

    /// The stream of the later stages for `request`. Each subscription runs them again.
    public func callAsFunction(_ request: Request) -> Observable<CallEvent, NetworkError> {
        let request = strippingSecrets(request)
        return Observable(scheduler: call.scheduler) { observer in
            guard observer.scope.isOpen else { return }
            Walk(call, from: index, context, into: observer).start(request)
        }
    }

    /// Removes the secrets of the previous origin if an app's stage has directed the request to an untrusted
    /// one.
    private func strippingSecrets(_ request: Request) -> Request {
        guard let received, request.urlText != received.urlText, let origin = Origin(request.url),
            origin != Origin(received.url),
            !call.prepared.servers.trusts(origin)
        else { return request }
        var request = request
        request.dropSecrets()
        return request
    }

    /// The events of the single response that the later stages produce for `request`.
    func transfers(_ request: Request) -> Observable<TransferEvent, NetworkError> {
        self(request).map { [call] event throws(NetworkError) in
            guard case .transfer(let event) = event else { throw call.unexpected(event) }
            return event
        }
    }

    /// Responds in place of the server: the client sends nothing. The later stages process this response like
    /// any other, for example into a file.
    ///
    /// ```swift
    /// guard isOpen else { return next.respond(with: Response(head: ResponseHead(status: .ok), request: request)) }
    /// ```
    public func respond(with response: Response) -> Observable<CallEvent, NetworkError> {
        // The mark goes into the record that the cache has attached to the received request, so that it does not store
        // a response that no server has sent, whatever request this carries.
        let sentFields = received?.sentFields ?? SentFields()
        sentFields.markStandIn()
        var response = response
        response.request.sentFields = sentFields
        var context = context
        context.standIn = CopyOnWrite(wrappedValue: response)
        return Next(of: call, at: index, context, received: received)(response.request)
    }

    /// The later stages, for an attempt at `server`.
    func at(_ server: Server?, _ host: HostState?) -> Next {
        var context = context
        (context.server, context.host) = (server, host)
        return Next(of: call, at: index, context)
    }

    /// The later stages, with an action that runs each time a request has been sent and the wait for the server begins.
    func reportingSends(to action: @escaping @Sendable () -> Void) -> Next {
        var context = context
        let former = context.onSend
        context.onSend = {
            former?()
            action()
        }
        return Next(of: call, at: index, context)
    }
}

/// The decisions of the stages about an attempt.
struct AttemptContext: Sendable {
    /// The server of the service that the attempt goes to; `nil` for none of them, or before the choice.
    var server: Server?
    /// The state of the host that the attempt goes to.
    var host: HostState?
    /// The request of the first exchange, after a redirect.
    var firstRequest: CopyOnWrite<Request>?
    /// The response of an interceptor, which stands in for the server's.
    var standIn: CopyOnWrite<Response>?
    /// Called when a request of the attempt is sent, which may be in another lane.
    var onSend: (@Sendable () -> Void)?
    /// Stores the cookies of a response to the exchange. ``CookieHandling`` calls it, or ``Signing`` for a
    /// head that it drops.
    var storeCookies: (@Sendable (ResponseHead) -> Void)?

    static let start = AttemptContext()
}

extension Next: RedactedDescription {
    /// The names of the later stages.
    public var description: String { call.stages.stages[index...].map(\.name).joined(separator: ", ") }
}

/// An event that the stages of a call pass on.
public enum CallEvent: Sendable {
    /// An event of a response in transfer.
    case transfer(TransferEvent)
    /// The whole response.
    case response(Response)
    /// A result made from the response: the output of an endpoint, an event of a download or of an event
    /// source.
    indirect case output(any Sendable)

    /// The head of the response, if the event contains it.
    public var head: ResponseHead? {
        switch self {
        case .transfer(.head(let head)): head
        case .response(let response): response.head
        default: nil
        }
    }

    /// The kind of the status in the head of a transfer, without a copy of the head.
    var statusKind: HTTPResponse.Status.Kind? {
        if case .transfer(.head(let head)) = self { head.status.kind } else { nil }
    }
}

/// The transfer event in a value; `nil` for other values.
func transferEvent(in value: some Sendable) -> TransferEvent? {
    if case .transfer(let event) = value as? CallEvent { event } else { value as? TransferEvent }
}

extension CallEvent: RedactedDescription {
    /// The event or the response without secrets; for an output, its type.
    public var description: String {
        switch self {
        case .transfer(let event): "\(event)"
        case .response(let response): "\(response)"
        case .output(let output): "\(type(of: output))"
        }
    }
}
