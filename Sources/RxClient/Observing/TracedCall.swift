import RxHTTP
import RxLite

/// One call whose begin and end are reported.
final class TracedCall<Element: Sendable>: @unchecked Sendable {
    // Unchecked, without exclusivity checks: runs only inside the subscription's lane, which is serial.
    private let trace: Trace
    private let isWhole: Bool
    private let observer: Observer<Element, NetworkError>
    @safe @exclusivity(unchecked) private var hasEnded = false

    /// - Parameter isWhole: whether one value is the whole result.
    init(_ trace: Trace, isWhole: Bool, into observer: Observer<Element, NetworkError>) {
        self.trace = trace
        self.isWhole = isWhole
        self.observer = observer
    }

    func start(_ stream: Observable<Element, NetworkError>) {
        let scope = observer.scope.child()
        scope.onClose { self.end(nil) }
        stream.subscribe(
            Observer(
                scope: scope, target: self,
                receive: { value, call in
                    // Guard: the target given above.
                    let call = unsafe unsafeDowncast(call, to: TracedCall.self)
                    if call.isWhole { call.trace.noteResult() }
                    call.observer.next(value)
                },
                end: { completion in
                    self.hasEnded = true
                    scope.close()
                    self.trace.end(completion)
                    self.observer.end(completion)
                }))
    }

    private func end(_ completion: Completion<NetworkError>?) {
        guard !hasEnded else { return }
        hasEnded = true
        trace.end(completion)
    }
}
