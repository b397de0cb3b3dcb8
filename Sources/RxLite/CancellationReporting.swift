/// An error that can report a cancellation from elsewhere than the subscription.
///
/// `subscribe` does not call its callbacks with such an end: there is nothing to be told that somebody has not
/// decided. Operators and `await` see it like any other error.
public protocol CancellationReporting: Error {
    /// Whether this one does.
    var isCancellation: Bool { get }
}

extension Completion {
    /// Whether callbacks are not to be told of it.
    @usableFromInline
    var isCancellation: Bool {
        guard case .failed(let error) = self, let error = error as? any CancellationReporting else {
            return false
        }
        return error.isCancellation
    }
}
