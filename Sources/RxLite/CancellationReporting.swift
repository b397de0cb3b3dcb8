/// An error that can report a cancellation from outside the subscription.
///
/// `subscribe` does not call its callbacks for such an end, because it was requested. Operators and `await`
/// see it like any other error.
public protocol CancellationReporting: Error {
    /// Whether this error reports a cancellation.
    var isCancellation: Bool { get }
}

extension Completion {
    /// Whether callbacks are not called for this end.
    @usableFromInline
    var isCancellation: Bool {
        guard case .failed(let error) = self, let error = error as? any CancellationReporting else {
            return false
        }
        return error.isCancellation
    }
}
