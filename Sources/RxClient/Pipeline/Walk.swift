import RxHTTP
import RxLite

/// One walk of a call along its list of stages, from one of them to the last.
///
/// Down, each stage gets the request, until one responds: the last one, which sends it, or an earlier one. Up, every event and
/// the end pass the same stages in reverse order. A stage may send the request down again after an end.
///
/// An interceptor of the app responds with a separate stream; each subscription to its `next` is another walk, from the
/// stage after the interceptor. The stages that fork a call do the same.
final class Walk: @unchecked Sendable {
    // Unchecked, without exclusivity checks: runs only inside the subscription's lane, which is serial. Debug builds check
    // that.

    let call: CallContext
    /// The decisions of the earlier stages about the attempt.
    @safe @exclusivity(unchecked) var context: AttemptContext
    /// The state of the stages in this walk.
    @safe @exclusivity(unchecked) var memory = Memory()

    private let stages: StageList
    private let first: Int
    private let observer: Observer<CallEvent, NetworkError>
    /// The scope of the stream whose events come up, or for which the request waits.
    @safe @exclusivity(unchecked) private var source: Scope?
    /// The index of the stage that responds with that stream, or that was the last to get the request.
    @safe @exclusivity(unchecked) private(set) var stageIndex: Int
    /// Whether the stage at ``stageIndex`` has got the request.
    @safe @exclusivity(unchecked) private var stageHasRequest = false
    /// The request to send down next, and the stage that gets it.
    @safe @exclusivity(unchecked) private var due: (request: Request, index: Int)?
    /// Whether the loop of ``descend(with:to:)`` runs, or goes on in the next turn: it takes what is due.
    @safe @exclusivity(unchecked) private var isDescending = false
    /// Reads large responses elsewhere.
    @safe @exclusivity(unchecked) private var reading: ContentReading<CallEvent>?

    /// The most ways down in one turn of the scheduler.
    private static let turnLength = 32

    init(
        _ call: CallContext, from first: Int, _ context: AttemptContext,
        into observer: Observer<CallEvent, NetworkError>
    ) {
        self.call = call
        self.first = first
        self.context = context
        self.observer = observer
        stages = call.stages
        stageIndex = first
    }

    /// The state of the stages in this walk. A new stage keeps its state here, never in itself: its object is shared by
    /// all calls.
    ///
    /// A stage begins with new values in `send`, since a request may come down again, and gives back what they still
    /// hold in `end` and `cancel`.
    struct Memory {
        /// ``Deadline``: the time limit that runs.
        var deadline: OperatorTimer?
        /// ``Retrying`` and ``Relogin`` both set it: the request as it was before its attempts, which they send again.
        var request: Request?
        /// ``Retrying``: the retries so far.
        var retries: RetryHistory?
        /// ``Retrying``: the decision for a retry that waits. `cancel` gives its credits back; `nil` once the retry is
        /// sent.
        var waitingRetry: RetryPolicy<NetworkError>.Verdict?
        /// ``Relogin``: the version of the credential after a relogin.
        var renewed: CredentialVersion?
        /// ``Revalidation``: the attempt, which may ask about a stored response.
        var revalidation: Revalidation.Attempt?
        /// ``CircuitBreaking``: the permit of the attempt.
        var permit: CircuitPermit?
        /// ``RequestLimiting``: the place in the queue, and then among the requests that run.
        var turn: QueueTurn?
        /// ``ResponseGathering``: the part of the response that has arrived.
        var gatherer: ResponseGatherer?
        /// ``StatusCheck``: the check of the attempt's status; `nil` if there is none.
        var status: StatusGate?
        /// ``Redirects``: the redirects of the attempt.
        var hops: Redirects.Hops?
        /// ``CacheInvalidation``: the change by an unsafe request.
        var change: CacheChange?
        /// ``HandshakeOrder``: the place in the queue of handshakes, until the server has answered.
        var handshake: QueueTurn?
        /// ``Signing``: the exchange with its signature.
        var signing: Signing.Exchange?
        /// ``ExchangeTracing``: the report of the exchange.
        var exchange: ExchangeTrace?
    }

    /// The scope of the subscription.
    var scope: Scope { observer.scope }

    /// The stages from the one that has the request, for a stage that decides later.
    var here: Next { Next(of: call, at: stageIndex, context) }

    /// The stages after the one that has the request, for a stage that forks.
    var rest: Next { Next(of: call, at: stageIndex + 1, context) }

    /// The stages after the interceptor that has got `request`.
    func rest(received request: Request) -> Next {
        Next(of: call, at: stageIndex + 1, context, received: request)
    }

    func start(_ request: Request) {
        observer.scope.onClose {
            self.cancel(backTo: self.first)
            self.reading = nil
        }
        descend(with: request, to: first)
    }

    // MARK: - Down

    /// Sends a request down from a stage on. Inside a way down, such as after its failure, the loop that runs takes it.
    func descend(with request: Request, to index: Int) {
        due = (request, index)
        guard !isDescending else { return }
        isDescending = true
        var waysLeft = Self.turnLength
        while let (request, index) = due, scope.isOpen {
            guard waysLeft > 0 || scope.lane.scheduler == nil else {
                return scope.inNextTurn {
                    self.isDescending = false
                    if let (request, index) = self.due { self.descend(with: request, to: index) }
                }
            }
            waysLeft -= 1
            due = nil
            step(with: request, to: index)
        }
        isDescending = false
    }

    private func step(with request: Request, to start: Int) {
        var request = request
        stageIndex = start
        while true {
            stageHasRequest = false
            guard isConcerned(stageIndex, by: .request) else {
                stageIndex += 1
                continue
            }
            let step: Step
            do throws(NetworkError) { step = try stages.send(&request, at: stageIndex, self) } catch {
                let index = stageIndex
                // The subscription may begin on any thread.
                return scope.perform { self.fail(error, above: index) }
            }
            // If `send` has closed the scope, this stage did not yet count as one that has the request.
            guard scope.isOpen else { return stages.cancel(at: stageIndex, self) }
            stageHasRequest = true
            switch step {
            case .next: stageIndex += 1
            case .wait(let stream): return wait(for: stream)
            case .respond(let stream): return listen(to: stream)
            case .answer(let event):
                // An event is delivered only on the scheduler, and not while the subscriber pauses.
                guard scope.lane.scheduler?.isCurrent != false, !scope.isPaused else {
                    return listen(to: .just(event))
                }
                receive(event)
                if scope.isOpen { end(.finished) }
                return
            case .transfer(let events):
                let source = scope.child()
                self.source = source
                return events.subscribe(
                    Observer(
                        scope: source, target: self,
                        receive: { event, walk in
                            // Guard: the target given above.
                            unsafe unsafeDowncast(walk, to: Walk.self).receive(.transfer(event))
                        }, end: { self.end($0) }))
            }
        }
    }

    private func wait(for stream: Observable<Request, NetworkError>) {
        let wait = scope.child()
        source = wait
        stream.subscribe(
            Observer(
                scope: wait,
                next: { request in
                    wait.close()
                    self.descend(with: request, to: self.stageIndex + 1)
                },
                end: { completion in
                    wait.close()
                    switch completion {
                    case .finished: self.end(.finished, above: self.reach)
                    case .failed(let error): self.fail(error, above: self.stageIndex)
                    }
                }))
    }

    private func listen(to stream: Observable<CallEvent, NetworkError>) {
        let source = scope.child()
        self.source = source
        stream.subscribe(
            Observer(
                scope: source, target: self,
                receive: { event, walk in
                    // Guard: the target given above.
                    unsafe unsafeDowncast(walk, to: Walk.self).receive(event)
                }, end: { self.end($0) }))
    }

    // MARK: - Up

    private func receive(_ event: CallEvent) { ascend(event, from: reach) }

    /// The index after the last stage that has got the request.
    private var reach: Int { stageHasRequest ? stageIndex + 1 : stageIndex }

    /// Passes an event to the stages before `limit`, the later ones first.
    func ascend(_ event: CallEvent, from limit: Int) {
        var event = event
        var index = limit
        while index > first {
            index -= 1
            guard isConcerned(index, by: .event) else { continue }
            if stages.hooks(at: index).contains(.content), case .response(let response) = event,
                reading != nil || response.isLarge
            {
                return read(response, at: index)
            }
            do throws(NetworkError) {
                guard try stages.receive(&event, at: index, self) else { return }
            } catch { return fail(error, above: index) }
        }
        observer.next(event)
    }

    /// Whether the stage at an index has this hook, and takes part in the call.
    private func isConcerned(_ index: Int, by hook: StageList.Hooks) -> Bool {
        let hooks = stages.hooks(at: index)
        return hooks.contains(hook) && (context.standIn == nil || hooks.contains(.standIn))
    }

    private func read(_ response: Response, at index: Int) {
        guard reading == nil, let source else {
            reading?.receive(response)
            return
        }
        let scope = scope.child()
        let reading = ContentReading(
            { response throws(NetworkError) in
                // May run outside of the lane; see ``EventStage/readsContent``.
                var event = CallEvent.response(response)
                _ = try self.stages.receive(&event, at: index, self)
                return event
            }, pausing: source,
            into: Observer(scope: scope, next: { self.ascend($0, from: index) }) { completion in
                switch completion {
                case .finished: self.end(.finished, above: self.reach)
                case .failed(let error): self.fail(error, above: index)
                }
            })
        self.reading = reading
        reading.receive(response)
    }

    private func end(_ completion: Completion<NetworkError>) {
        source?.close()
        if let reading, case .finished = completion { return reading.end(completion) }
        end(completion, above: reach)
    }

    /// Runs `action` at the scheduler's next turn, after the events that have already arrived, unless their end is among
    /// these.
    func afterArrivals(_ action: @escaping @Sendable () -> Void) {
        guard let source, let scheduler = scope.lane.scheduler else { return action() }
        scheduler.schedule { source.enter { if source.isOpen { action() } } }
    }

    /// A closure that ends the call in the name of the stage that has the request now.
    func failing() -> @Sendable (NetworkError) -> Void {
        let index = stageIndex
        return { self.fail($0, above: index) }
    }

    /// Ends the call in the name of the stage at `index`: cancels it and the later ones, and the earlier ones get the end.
    private func fail(_ error: NetworkError, above index: Int) {
        leave(backTo: index)
        end(.failed(error), above: index)
    }

    /// Passes an end to the stages before `index`, the later ones first.
    private func end(_ completion: Completion<NetworkError>, above index: Int) {
        source = nil
        due = nil
        if let reading = reading.take() { reading.scope.close() }
        var completion = completion
        stageIndex = index
        stageHasRequest = false
        while stageIndex > first {
            stageIndex -= 1
            guard isConcerned(stageIndex, by: .end) else { continue }
            switch stages.end(&completion, at: stageIndex, self) {
            case .end: continue
            case .again(let request, after: let wait):
                stageHasRequest = true
                guard let wait else { return descend(with: request, to: stageIndex + 1) }
                return self.wait(for: wait.map { request })
            case .restart(let request): return descend(with: request, to: stageIndex)
            case .respond(let stream): return listen(to: stream)
            }
        }
        observer.end(completion)
    }

    /// Leaves the stages from the innermost one out to `index`, that one included; their events do not count any more.
    /// The caller must then send a request down, or end the call.
    func leave(backTo index: Int) {
        source?.close()
        source = nil
        cancel(backTo: index)
    }

    /// Cancels the stages that have got the request and no end, from the innermost one out to `index`, that one
    /// included.
    private func cancel(backTo index: Int) {
        if stageHasRequest {
            stageIndex += 1
            stageHasRequest = false
        }
        while stageIndex > max(index, first) {
            stageIndex -= 1
            if isConcerned(stageIndex, by: .end) { stages.cancel(at: stageIndex, self) }
        }
    }
}
