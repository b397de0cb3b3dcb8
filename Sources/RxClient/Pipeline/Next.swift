public import RxHTTP
public import RxLite

/// The later stages of the pipeline, as a stage sees them.
public struct Next: Sendable {
    private let call: CallContext
    private let index: Int
    private let route: Route?
    /// The request that an app's stage received, if this continues it.
    private let given: Request?

    /// The decisions of the earlier stages: the server and host of an attempt, and the request it belongs to.
    private final class Route: Sendable {
        let server: Server?
        let host: HostState?
        let first: Request?
        let response: CopyOnWrite<Response>?
        let onSend: (@Sendable () -> Void)?

        init(
            server: Server? = nil, host: HostState? = nil, first: Request? = nil,
            response: CopyOnWrite<Response>? = nil, onSend: (@Sendable () -> Void)? = nil
        ) {
            self.onSend = onSend
            self.server = server
            self.host = host
            self.first = first
            self.response = response
        }
    }

    /// Starts with the first stage of a call.
    init(of call: CallContext) { self.init(call, at: 0, nil) }

    private init(_ call: CallContext, at index: Int, _ route: Route?, given: Request? = nil) {
        self.call = call
        self.route = route
        self.given = given
        guard route?.response != nil else {
            self.index = index
            return
        }
        // Nothing is sent if there is a response already.
        self.index = call.stages[index...].firstIndex { $0.readsResponse } ?? call.stages.endIndex
    }

    /// The server of the service that the attempt goes to; `nil` for none of them, or before the choice.
    var server: Server? { route?.server }

    /// The state of the host that the attempt goes to.
    var host: HostState? { route?.host }

    /// The request of the exchange whose redirects are followed.
    var first: Request? { route?.first }

    /// The response of an interceptor, in place of the server's.
    var response: Response? { route?.response?.wrappedValue }

    /// Called when a request of the attempt is sent, which may be in another lane.
    var onSend: (@Sendable () -> Void)? { route?.onSend }

    /// The stream of the later stages for `request`. Each subscription runs them again.
    public func callAsFunction(_ request: Request) -> Observable<CallEvent, NetworkError> {
        let stage = call.stages[index]
        // The client's stages do nothing before the subscription, so this can call them at once.
        guard stage.isDeferred else { return stage.interceptor.intercept(request, in: call, following()) }
        let request = strippingSecrets(request)
        return .deferred(on: call.scheduler) {
            stage.interceptor.intercept(request, in: call, following(stage.isUsers ? request : nil))
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
        if let transfers = call.stages[index].transfers { return transfers(request, call, following()) }
        return self(request).map { [call] event throws(NetworkError) in
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
        let route = Route(
            server: server, host: host, first: first, response: CopyOnWrite(wrappedValue: response))
        return Next(call, at: index, route, given: given)(response.request)
    }

    /// The later stages, for an attempt at `server`.
    func at(_ server: Server?, _ host: HostState?) -> Next { with(server, host, first: first, onSend) }

    /// The same for `first` and the exchanges that its redirects lead to.
    func following(redirectsOf first: Request) -> Next { with(server, host, first: first, onSend) }

    /// The same with an action for each request that is sent: it begins to wait for the server.
    func reportingSends(to action: @escaping @Sendable () -> Void) -> Next {
        let former = onSend
        return with(server, host, first: first) {
            former?()
            action()
        }
    }

    private func with(
        _ server: Server?, _ host: HostState?, first: Request?, _ onSend: (@Sendable () -> Void)?
    ) -> Next {
        let route = Route(
            server: server, host: host, first: first, response: route?.response, onSend: onSend)
        return Next(call, at: index, route)
    }

    private func following(_ given: Request? = nil) -> Next {
        Next(call, at: index + 1, route, given: given)
    }
}

extension Next: RedactedDescription {
    /// The names of the later stages.
    public var description: String { call.stages[index...].map(\.name).joined(separator: ", ") }
}
