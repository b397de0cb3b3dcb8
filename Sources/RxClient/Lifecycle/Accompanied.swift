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
}

/// One request with its accessories.
private final class Attendance<Element: Sendable>: @unchecked Sendable {
    // Unchecked, and without exclusivity checks: runs only inside the subscription's lane, which is serial.
    private let request: Request
    private let accessories: [Accessory]
    private let isWhole: Bool
    private let observer: Observer<Element, NetworkError>
    private let scope: Scope
    @safe @exclusivity(unchecked) private var outcome: RequestOutcome?

    init(
        of request: Request, _ accessories: [Accessory], isWhole: Bool,
        into observer: Observer<Element, NetworkError>
    ) {
        self.request = request
        self.accessories = accessories
        self.isWhole = isWhole
        self.observer = observer
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
        scope.close()
        switch completion {
        case .finished: settle(.succeeded)
        case .failed(let error): settle(.failed(error))
        }
        observer.end(completion)
    }

    private func settle(_ outcome: RequestOutcome) {
        guard self.outcome == nil else { return }
        self.outcome = outcome
        for accessory in accessories { accessory.willStop(request, outcome) }
    }

    private func stop() {
        settle(.cancelled)
        guard let outcome else { return }
        for accessory in accessories { accessory.didStop(request, outcome) }
    }
}
