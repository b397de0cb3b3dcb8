import FoundationEssentials
package import RxHTTP
import RxLite

/// A call from its start to its end: counted, accompanied, traced, and made into the subscriber's values.
///
/// The stages of the call are a ``Walk``, whose events end here.
final class CallRun<Output: Sendable>: RunningRequest, @unchecked Sendable {
    // Unchecked, without exclusivity checks: runs only inside the subscription's lane, which is serial; a cancellation from
    // elsewhere enters that lane. Debug builds check that.

    /// Makes the subscriber's value of an event. Throws ``CallContext/unexpected(_:)`` for an event that such a call
    /// does not emit. Called on another thread, outside of the lane, for a large response.
    typealias Make = @Sendable (CallEvent, CallContext) throws(NetworkError) -> Output

    private let call: CallContext
    private let make: Make
    private let observer: Observer<Output, NetworkError>
    /// The scope of the walk.
    private let scope: Scope
    private let effectivePresentation: Presentation
    /// Whether the end has been decided, by the walk or by the client's cancellation; only the first counts.
    @safe @exclusivity(unchecked) private var hasEnded = false
    /// Whether the trace has been told of the start.
    @safe @exclusivity(unchecked) private var isTraced = false
    /// Decodes large responses elsewhere.
    @safe @exclusivity(unchecked) private var reading: ContentReading<Output>?

    init(_ call: CallContext, into observer: Observer<Output, NetworkError>, _ make: @escaping Make) {
        self.call = call
        self.make = make
        self.observer = observer
        scope = observer.scope.child()
        let isRefresh = call.overrides.isRefresh
        var presentation = isRefresh ? Presentation.hidden : call.prepared.options.presentation ?? .all
        // The failure of a login is that of the request that started it.
        if call.client.configuration.session?.isLoggingIn(scope.lane) == true {
            presentation.remove(.errorTips)
        }
        var accessories = presentation.contains(.accessories) ? call.prepared.options.accessories : []
        if !isRefresh, let willStart = call.prepared.options.willStart {
            accessories.insert(Accessory(willStart: willStart), at: 0)
        }
        effectivePresentation = presentation
        super.init(of: call.prepared.request, accessories)
    }

    // MARK: - Start

    func start() {
        let client = call.client
        // The requests that run may have to wait for a login.
        let isAdded = client.running.insert(self) {
            client.configuration.session?.isLoggingIn(self.scope.lane) == true
        }
        guard isAdded else { return observer.scope.perform { self.observer.fail(.shutDown(self.request)) } }
        // Runs after the end has been delivered, or on a cancellation, when the transfer is already closed.
        observer.scope.onClose { self.stop() }
        startAccessories()
        guard scope.isOpen else { return }
        if let reachability = client.configuration.reachability, !reachability.status.isReachable {
            return fail(.unreachable(request))
        }
        switch call.request {
        case .success(let request): begin(request)
        case .failure(let error): fail(error)
        }
    }

    /// Fails during the subscription, which may begin on any thread.
    private func fail(_ error: NetworkError) { scope.perform { self.end(.failed(error)) } }

    /// Begins the trace and the walk. A request built by hand (``Client/exchange(_:following:usesCookies:)``) begins
    /// here, without ``start()``: it is not among the running ones, and has no accessories.
    func begin(_ request: Request) {
        if let trace = call.trace {
            isTraced = true
            trace.begin(in: scope.lane)
            if trace.isShown { trace.emit(.started) }
            scope.onClose { if !self.hasEnded { trace.end(nil) } }
        }
        Walk(
            call, from: 0, .start,
            into: Observer(
                scope: scope, target: self,
                receive: { event, run in
                    // Guard: the target given above.
                    unsafe unsafeDowncast(run, to: CallRun.self).receive(event)
                }, end: { self.end($0) })
        )
        .start(request)
    }

    // MARK: - Values

    private func receive(_ event: CallEvent) {
        if call.kind.isTyped, case .response(let response) = event, reading != nil || response.isLarge {
            return read(response)
        }
        let value: Output
        do throws(NetworkError) { value = try make(event, call) } catch { return end(.failed(error)) }
        deliver(value)
    }

    private func read(_ response: Response) {
        let reading =
            reading
            ?? ContentReading(
                { response throws(NetworkError) in try self.make(.response(response), self.call) },
                pausing: scope,
                into: Observer(scope: observer.scope, next: { self.deliver($0) }, end: { self.finish($0) }))
        if self.reading == nil { scope.onClose { self.reading = nil } }
        self.reading = reading
        reading.receive(response)
    }

    private func deliver(_ value: Output) {
        guard scope.isOpen else { return }
        if call.kind.isWhole {
            // Before the value: a subscriber that leaves with it has not cancelled the call.
            call.trace?.recordResult()
            settle(.succeeded)
        }
        observer.next(value)
    }

    // MARK: - End

    private func end(_ completion: Completion<NetworkError>) {
        if let reading, case .finished = completion { return reading.end(completion) }
        finish(completion)
    }

    private func finish(_ completion: Completion<NetworkError>) {
        guard scope.isOpen else { return }
        // Set before the scope closes, or the trace would take the end for a cancellation.
        hasEnded = true
        scope.close()
        if isTraced { call.trace?.end(completion) }
        settle(completion)
        observer.end(completion)
    }

    override var tags: Set<String> { call.tags }
    override var presentation: Presentation { effectivePresentation }
    override var endpointURL: URL? { call.prepared.endpointURL }

    override func cancel() {
        scope.cancel()
        observer.scope.enter {
            guard !self.hasEnded else { return }
            self.hasEnded = true
            // A call whose whole result has been delivered has nothing left to cancel.
            if self.outcome != nil { return self.observer.finish() }
            self.settle(.cancelled)
            self.observer.fail(
                NetworkError(.cancelled, "the request was cancelled", request: self.request))
        }
    }

    private func stop() {
        let client = call.client
        settle(.cancelled)
        client.running.remove(self, in: observer.scope.lane)
        stopAccessories()
        // `isNews` comes last, since it counts the failure as shown.
        if case .failed(let error) = outcome, effectivePresentation.contains(.errorTips),
            client.configuration.session?.isNews(error) != false
        {
            client.errorTipSignal.send(error)
        }
    }
}

// MARK: - Making calls

extension Client {
    /// Runs a call at each subscription. Everything except ``exchange(_:following:usesCookies:)`` is built on this.
    ///
    /// - Parameter make: makes the subscriber's value of an event, or throws for one that such a call does not emit.
    func call<Output>(
        _ kind: CallKind, _ endpoint: any Endpoint, _ overrides: CallOverrides = CallOverrides(),
        as make: @escaping CallRun<Output>.Make
    ) -> Observable<Output, NetworkError> {
        let (scheduler, output) = (scheduler, type(of: endpoint).kindOfOutput)
        let overrides = CopyOnWrite(wrappedValue: overrides)
        return Observable(scheduler: scheduler) { observer in
            guard observer.scope.isOpen else { return }
            let call: CallContext
            do throws(NetworkError) {
                call = try CallContext(
                    kind, endpoint, making: output, of: self, on: scheduler, in: observer.scope.lane,
                    overrides)
            } catch {
                return observer.scope.perform { observer.fail(error) }
            }
            CallRun(call, into: observer, make).start()
        }
    }

    /// A call with a typed result. Its response is stored once the output has been made.
    func typed<E: Endpoint, T: Sendable>(
        _ endpoint: E, _ kind: CallKind = .request, _ overrides: CallOverrides = CallOverrides(),
        as result: @escaping @Sendable (TypedResponse<E.Output>) -> T
    ) -> Observable<T, NetworkError> {
        call(kind, endpoint, overrides) { event, call throws(NetworkError) in
            guard case .response(let response) = event else { throw call.unexpected(event) }
            let part = call.prepared.options.part?.keys ?? []
            let value = try endpoint.result(of: part.isEmpty ? response : response.at(part), as: result)
            call.cached?.storePending()
            call.trace?.recordOutput()
            return value
        }
    }

    /// The typed result of an endpoint's response that has arrived in several exchanges, such as that of an upload in parts:
    /// validated, without its envelope, and made by the endpoint, as ``typed(_:_:_:as:)`` does after the
    /// stages; change both.
    package func output<E: Endpoint>(
        of endpoint: E, from response: Response
    ) throws(NetworkError) -> E.Output {
        let options = merged(endpoint.options)
        var validated = response
        try validation(for: E.kindOfOutput, options).validate(&validated)
        let part = options.values.part?.keys ?? []
        return try endpoint.result(of: part.isEmpty ? validated : validated.at(part)) { $0.output }
    }

    /// Repeats the request of `call`, to refresh the stored response.
    func refreshed(_ call: CallContext) -> Observable<Response, NetworkError> {
        guard let endpoint = call.endpoint else { return .empty() }
        return refreshed(
            endpoint, CallOverrides(page: call.overrides.page, account: call.account, isRefresh: true))
    }

    private func refreshed(
        _ endpoint: some Endpoint, _ overrides: CallOverrides
    ) -> Observable<Response, NetworkError> {
        typed(endpoint, .request, overrides) { $0.response }
    }
}

extension CallContext {
    /// The output that an interceptor of the client has made.
    func output<Output>(in event: CallEvent) throws(NetworkError) -> Output {
        guard case .output(let output) = event, let output = output as? Output else {
            throw unexpected(event)
        }
        return output
    }

    /// The error for an event that the kind of call does not emit; only an interceptor can have made it.
    func unexpected(_ event: CallEvent) -> NetworkError {
        let kind =
            switch event {
            case .transfer: "an event of a transfer"
            case .response: "a whole response"
            case .output(let output): "\(type(of: output))"
            }
        return attributed(
            NetworkError(
                .invalidResponse,
                "an interceptor emitted \(kind), which a call of the kind \(self.kind) cannot emit"))
    }
}

extension Response {
    /// The response with its content at `part`, relative to the previous place.
    fileprivate func at(_ part: [String]) -> Response {
        var response = self
        response.payloadPath += part
        return response
    }
}
