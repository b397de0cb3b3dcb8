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
            AccompaniedRun(of: request, accessories, isWhole: isWhole, into: observer).start(self)
        }
    }
}

/// A request with its accessories, each of which hears once of the outcome and once of the end.
class Attendance: @unchecked Sendable {
    // Unchecked, and without exclusivity checks: runs only inside the subscription's lane, which is serial.
    let accompanied: Request
    private let accessories: [Accessory]
    @safe @exclusivity(unchecked) private(set) final var outcome: RequestOutcome?

    init(of request: Request, _ accessories: [Accessory]) {
        accompanied = request
        self.accessories = accessories
    }

    final func beginAttendance() { for accessory in accessories { accessory.willStart(accompanied) } }

    /// Only the first outcome counts.
    final func settle(_ outcome: RequestOutcome) {
        guard self.outcome == nil else { return }
        self.outcome = outcome
        for accessory in accessories { accessory.willStop(accompanied, outcome) }
    }

    final func settle(_ completion: Completion<NetworkError>) {
        switch completion {
        case .finished: settle(.succeeded)
        case .failed(let error): settle(.failed(error))
        }
    }

    /// Without an outcome so far, the end is a cancellation.
    final func endAttendance() {
        settle(.cancelled)
        guard let outcome else { return }
        for accessory in accessories { accessory.didStop(accompanied, outcome) }
    }
}

/// A stream with accessories around it.
private final class AccompaniedRun<Element: Sendable>: Attendance, @unchecked Sendable {
    private let isWhole: Bool
    private let observer: Observer<Element, NetworkError>
    private let scope: Scope

    init(
        of request: Request, _ accessories: [Accessory], isWhole: Bool,
        into observer: Observer<Element, NetworkError>
    ) {
        self.isWhole = isWhole
        self.observer = observer
        scope = observer.scope.child()
        super.init(of: request, accessories)
    }

    func start(_ stream: Observable<Element, NetworkError>) {
        // Runs after the end has been delivered, or on a cancellation, when the transfer is already closed.
        observer.scope.onClose { self.endAttendance() }
        beginAttendance()
        guard scope.isOpen else { return }
        stream.subscribe(
            Observer(
                scope: scope, target: self,
                receive: { value, run in
                    // Guard: the target given above.
                    unsafe unsafeDowncast(run, to: AccompaniedRun.self).receive(value)
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
        settle(completion)
        observer.end(completion)
    }
}
