public import RxHTTP
public import RxLite

/// The later stages of the pipeline, as a stage sees them.
public struct Next: Sendable {
    private let call: CallContext
    private var index: Int
    /// Which server of the service the attempt goes to; `nil` for none of them, or while that is open.
    private(set) var server: Server?
    /// What is known of the host that the attempt goes to.
    private(set) var host: HostState?
    /// The request of the exchange whose redirects are followed.
    private(set) var first: Request?
    /// Stands for the server's, where an interceptor responds.
    private(set) var response: Response?

    /// All stages of a call.
    init(of call: CallContext) {
        self.call = call
        index = 0
    }

    /// The stream that the later stages make of `request`. Each subscription runs them again.
    public func callAsFunction(_ request: Request) -> Observable<CallEvent, NetworkError> {
        let stage = call.stages[index]
        // A stage of the client's does nothing before it is subscribed to; it can be asked at once.
        guard stage.isDeferred else { return stage.interceptor.intercept(request, in: call, following) }
        return .deferred(on: call.scheduler) { stage.interceptor.intercept(request, in: call, following) }
    }

    /// The same as the events of one response.
    func transfers(_ request: Request) -> Observable<TransferEvent, NetworkError> {
        let stage = call.stages[index]
        if let exchange = stage.exchange, !stage.isDeferred {
            return exchange.transfers(request, in: call, following)
        }
        return self(request).compactMap { event in
            if case .transfer(let event) = event { event } else { nil }
        }
    }

    /// A response in place of the server's: nothing is sent. What the later stages make of a response, such as a file,
    /// they make of this one.
    ///
    /// ```swift
    /// guard isOpen else { return next.respond(with: Response(head: ResponseHead(status: .ok), request: request)) }
    /// ```
    public func respond(with response: Response) -> Observable<CallEvent, NetworkError> {
        var next = self
        next.response = response
        next.skipSending()
        return next(response.request)
    }

    /// The same for an attempt that goes to that server.
    func at(_ server: Server?, _ host: HostState?) -> Next {
        var next = self
        (next.server, next.host) = (server, host)
        return next
    }

    /// The same for `first` and what redirects of it lead to.
    func following(redirectsOf first: Request) -> Next {
        var next = self
        next.first = first
        return next
    }

    private var following: Next {
        var next = self
        next.index += 1
        next.skipSending()
        return next
    }

    private mutating func skipSending() {
        guard response != nil else { return }
        while index < call.stages.count, !call.stages[index].readsResponse { index += 1 }
    }
}

extension Next: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// The names of the stages that follow.
    public var description: String { call.stages[index...].map(\.name).joined(separator: ", ") }

    /// The same as ``description``.
    public var debugDescription: String { description }

    /// Nothing, so that `dump` shows no more than ``description``.
    public var customMirror: Mirror { Mirror(self, children: []) }
}
