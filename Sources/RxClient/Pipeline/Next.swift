public import RxHTTP
public import RxLite

/// The later stages of the pipeline, as a stage sees them.
public struct Next: Sendable {
    private let call: CallContext
    private let index: Int
    private let route: Route
    /// The request that an app's stage received, if this continues it.
    private let given: Request?

    /// The stages of a call from `index` on.
    init(of call: CallContext, at index: Int = 0, _ route: Route = .start, given: Request? = nil) {
        self.call = call
        self.index = index
        self.route = route
        self.given = given
    }

    /// The stream of the later stages for `request`. Each subscription runs them again.
    public func callAsFunction(_ request: Request) -> Observable<CallEvent, NetworkError> {
        let request = strippingSecrets(request)
        return Observable(scheduler: call.scheduler) { observer in
            guard observer.scope.isOpen else { return }
            Walk(call, from: index, route, into: observer).start(request)
        }
    }

    /// Removes the secrets of the previous origin if an app's stage has directed the request to an untrusted
    /// one.
    private func strippingSecrets(_ request: Request) -> Request {
        guard let given, request.urlText != given.urlText, let origin = Origin(request.url),
            origin != Origin(given.url),
            !call.prepared.servers.trusts(origin)
        else { return request }
        var request = request
        request.dropSecrets()
        return request
    }

    /// The same as events of one response.
    func transfers(_ request: Request) -> Observable<TransferEvent, NetworkError> {
        self(request).map { [call] event throws(NetworkError) in
            guard case .transfer(let event) = event else { throw call.misplaced(event) }
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
        // The cache does not store responses that no server has sent, whatever request they carry.
        let sentFields = given?.sentFields ?? SentFields()
        sentFields.noteStandIn()
        var response = response
        response.request.sentFields = sentFields
        var route = route
        route.response = CopyOnWrite(wrappedValue: response)
        return Next(of: call, at: index, route, given: given)(response.request)
    }

    /// The later stages, for an attempt at `server`.
    func at(_ server: Server?, _ host: HostState?) -> Next {
        var route = route
        (route.server, route.host) = (server, host)
        return Next(of: call, at: index, route)
    }

    /// The same with an action for each request that is sent: it begins to wait for the server.
    func reportingSends(to action: @escaping @Sendable () -> Void) -> Next {
        var route = route
        let former = route.onSend
        route.onSend = {
            former?()
            action()
        }
        return Next(of: call, at: index, route)
    }
}

/// The decisions of the stages about an attempt.
struct Route: Sendable {
    /// The server of the service that the attempt goes to; `nil` for none of them, or before the choice.
    var server: Server?
    /// The state of the host that the attempt goes to.
    var host: HostState?
    /// The request of the first exchange, after a redirect.
    var first: CopyOnWrite<Request>?
    /// The response of an interceptor, in place of the server's.
    var response: CopyOnWrite<Response>?
    /// Called when a request of the attempt is sent, which may be in another lane.
    var onSend: (@Sendable () -> Void)?

    static let start = Route()
}

extension Next: RedactedDescription {
    /// The names of the later stages.
    public var description: String { call.stages[index...].map(\.name).joined(separator: ", ") }
}
