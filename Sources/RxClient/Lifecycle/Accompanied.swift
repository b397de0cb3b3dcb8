public import RxHTTP
public import RxLite

extension Observable where Failure == NetworkError {
    /// Calls accessories around the request of this stream: one ``Accessory/willStart``, one
    /// ``Accessory/willStop`` and one ``Accessory/didStop`` for each subscription, for any outcome.
    ///
    /// - Parameters:
    ///   - accessories: the closures to call.
    ///   - request: the request that the closures receive.
    ///   - isWhole: whether one value is the whole result, so that the outcome is known with it. Default true.
    public func accompanied(
        by accessories: [Accessory], as request: Request, isWhole: Bool = true
    ) -> Observable {
        Observable(scheduler: scheduler) { observer in
            guard observer.scope.isOpen else { return }
            Attendance(of: request, accessories, isWhole: isWhole, into: observer).start(self)
        }
    }

    /// Counts the request of this stream, calls its accessories and lets the client cancel it.
    ///
    /// - Parameters:
    ///   - isWhole: whether one value is the whole result, so that the outcome is known with it.
    ///   - presentation: the parts of the request that are visible to the user.
    ///   - accessories: the closures to call, if the presentation contains them.
    ///   - willStart: called before the request starts, whatever is visible.
    func attended(
        as request: Request, tags: Set<String>, in client: Client, isWhole: Bool,
        _ presentation: Presentation, _ accessories: [Accessory],
        willStart: (@Sendable (Request) -> Void)?
    ) -> Observable {
        Observable(scheduler: scheduler) { observer in
            guard observer.scope.isOpen else { return }
            var presentation = presentation
            // The failure of a login is that of the request that started it.
            if client.configuration.session?.isLoggingIn(observer.scope.lane) == true {
                presentation.remove(.errorTips)
            }
            var accompanying =
                presentation.contains(.accessories) ? accessories : []
            if let willStart { accompanying.insert(Accessory(willStart: willStart), at: 0) }
            let attendance = Attendance(
                of: request, accompanying, isWhole: isWhole, into: observer, in: client, presentation)
            let entry = RunningRequests.Entry(
                request: request, tags: tags, presentation: presentation, cancel: { attendance.cancel() })
            // The requests that run may have to wait for a login.
            let isAdded = client.running.insert(entry) {
                client.configuration.session?.isLoggingIn(observer.scope.lane) == true
            }
            if isAdded { attendance.start(self) } else { observer.fail(.shutDown(request)) }
        }
    }
}

/// One running request: counted, accompanied, and registered for cancellation.
private final class Attendance<Element: Sendable>: @unchecked Sendable {
    // Unchecked, and without exclusivity checks: runs only inside the subscription's lane, which is serial; a
    // cancellation from elsewhere enters that lane.
    private let request: Request
    private let accessories: [Accessory]
    private let isWhole: Bool
    private let observer: Observer<Element, NetworkError>
    private let scope: Scope
    /// The client that the request is registered with, if it is.
    private let client: Client?
    private let presentation: Presentation
    @safe @exclusivity(unchecked) private var outcome: RequestOutcome?
    @safe @exclusivity(unchecked) private var hasEnded = false

    init(
        of request: Request, _ accessories: [Accessory], isWhole: Bool,
        into observer: Observer<Element, NetworkError>, in client: Client? = nil,
        _ presentation: Presentation = .hidden
    ) {
        self.request = request
        self.accessories = accessories
        self.isWhole = isWhole
        self.observer = observer
        self.client = client
        self.presentation = presentation
        scope = observer.scope.child()
    }

    func start(_ stream: Observable<Element, NetworkError>) {
        // Runs after the end has been delivered, or on a cancellation, when the transfer is already closed.
        observer.scope.onClose { self.stop() }
        for accessory in accessories { accessory.willStart(request) }
        guard scope.isOpen else { return }
        stream.subscribe(
            Observer(
                scope: scope, target: self,
                receive: { value, attendance in
                    // Guard: the target given above.
                    unsafe unsafeDowncast(attendance, to: Attendance.self).receive(value)
                }, end: { self.end($0) }))
    }

    private func receive(_ value: Element) {
        guard scope.isOpen else { return }
        if isWhole { settle(.succeeded) }
        observer.next(value)
    }

    private func end(_ completion: Completion<NetworkError>) {
        guard scope.isOpen else { return }
        hasEnded = true
        scope.close()
        switch completion {
        case .finished: settle(.succeeded)
        case .failed(let error): settle(.failed(error))
        }
        observer.end(completion)
    }

    /// Cancels the request. Safe from any thread.
    func cancel() {
        scope.cancel()
        observer.scope.enter {
            guard !self.hasEnded else { return }
            self.hasEnded = true
            // A request whose whole result has been delivered has nothing left to cancel.
            if self.outcome != nil { return self.observer.finish() }
            self.settle(.cancelled)
            self.observer.fail(
                NetworkError(.cancelled, "the request was cancelled", request: self.request))
        }
    }

    private func settle(_ outcome: RequestOutcome) {
        guard self.outcome == nil else { return }
        self.outcome = outcome
        for accessory in accessories { accessory.willStop(request, outcome) }
    }

    private func stop() {
        settle(.cancelled)
        guard let outcome else { return }
        client?.running.remove(request.id, in: observer.scope.lane)
        for accessory in accessories { accessory.didStop(request, outcome) }
        if let client, case .failed(let error) = outcome, presentation.contains(.errorTips),
            client.configuration.session?.isNews(error) != false
        {
            client.errorTipSignal.send(error)
        }
    }
}
