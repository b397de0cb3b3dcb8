public import RxHTTP
public import RxLite

/// The later stages of the pipeline, as a stage sees them.
public struct Next: Sendable {
    private let call: CallContext
    private let index: Int
    private let route: Route?
    /// The request that a user's stage was given, where this is what it goes on with.
    private let given: Request?

    /// Where an attempt goes, and on whose behalf: what the stages above have decided.
    private final class Route: Sendable {
        let server: Server?
        let host: HostState?
        let first: Request?
        let response: Response?

        init(server: Server? = nil, host: HostState? = nil, first: Request? = nil, response: Response? = nil)
        {
            self.server = server
            self.host = host
            self.first = first
            self.response = response
        }
    }

    /// All stages of a call.
    init(of call: CallContext) { self.init(call, at: 0, nil) }

    private init(_ call: CallContext, at index: Int, _ route: Route?, given: Request? = nil) {
        self.call = call
        self.route = route
        self.given = given
        guard route?.response != nil else {
            self.index = index
            return
        }
        // Nothing is sent where there is a response.
        self.index = call.stages[index...].firstIndex { $0.readsResponse } ?? call.stages.endIndex
    }

    /// Which server of the service the attempt goes to; `nil` for none of them, or while that is open.
    var server: Server? { route?.server }

    /// What is known of the host that the attempt goes to.
    var host: HostState? { route?.host }

    /// The request of the exchange whose redirects are followed.
    var first: Request? { route?.first }

    /// Stands for the server's, where an interceptor responds.
    var response: Response? { route?.response }

    /// The stream that the later stages make of `request`. Each subscription runs them again.
    public func callAsFunction(_ request: Request) -> Observable<CallEvent, NetworkError> {
        let stage = call.stages[index]
        // A stage of the client's does nothing before it is subscribed to; it can be asked at once.
        guard stage.isDeferred else { return stage.interceptor.intercept(request, in: call, following()) }
        let request = strippingSecrets(request)
        return .deferred(on: call.scheduler) {
            stage.interceptor.intercept(request, in: call, following(stage.isUsers ? request : nil))
        }
    }

    /// Without what was for the origin that the request had, where a user's stage has made it go to a strange one.
    private func strippingSecrets(_ request: Request) -> Request {
        guard let given, request.urlText != given.urlText, let origin = Origin(request.url),
            origin != Origin(given.url),
            !call.prepared.servers.trusts(origin)
        else { return request }
        var request = request
        request.dropSecrets()
        return request
    }

    /// The same as the events of one response.
    func transfers(_ request: Request) -> Observable<TransferEvent, NetworkError> {
        let stage = call.stages[index]
        if let exchange = stage.exchange, !stage.isDeferred {
            return exchange.transfers(request, in: call, following())
        }
        return self(request).map { [call] event throws(NetworkError) in
            guard case .transfer(let event) = event else { throw call.misplaced(event) }
            return event
        }
    }

    /// A response in place of the server's: nothing is sent. What the later stages make of a response, such as a file,
    /// they make of this one.
    ///
    /// ```swift
    /// guard isOpen else { return next.respond(with: Response(head: ResponseHead(status: .ok), request: request)) }
    /// ```
    public func respond(with response: Response) -> Observable<CallEvent, NetworkError> {
        // What no server has sent is not for the cache.
        (given ?? response.request).sentFields?.noteStandIn()
        let route = Route(server: server, host: host, first: first, response: response)
        return Next(call, at: index, route, given: given)(response.request)
    }

    /// The remaining stages, for an attempt at `server`.
    func at(_ server: Server?, _ host: HostState?) -> Next {
        Next(call, at: index, Route(server: server, host: host, first: first, response: response))
    }

    /// The same for `first` and what redirects of it lead to.
    func following(redirectsOf first: Request) -> Next {
        Next(call, at: index, Route(server: server, host: host, first: first, response: response))
    }

    private func following(_ given: Request? = nil) -> Next {
        Next(call, at: index + 1, route, given: given)
    }
}

extension Next: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// The names of the stages that follow.
    public var description: String { call.stages[index...].map(\.name).joined(separator: ", ") }

    /// The same as ``description``.
    public var debugDescription: String { description }

    /// Empty, so that `dump` shows only ``description``.
    public var customMirror: Mirror { Mirror(self, children: []) }
}
