/// An error that can report a cancellation.
///
/// A subscription that is cancelled from outside, for example through its client, ends with such an error. `subscribe`
/// does not call its callbacks for that end, because it was requested. Operators and `await` see it like any other
/// error.
///
/// A loop over a stream throws ``taskCancelled`` when its task is cancelled, so that it cannot be mistaken for a loop
/// that has seen every value.
public protocol CancellationReporting: Error {
    /// Whether this error reports a cancellation.
    var isCancellation: Bool { get }

    /// The error of a loop over a stream whose task is cancelled.
    static var taskCancelled: Self { get }
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

    /// The end of a loop whose task is cancelled: an error wherever `Failure` has one that says so. Streams that cannot
    /// fail, and error types that do not report cancellations, leave no choice but to finish.
    @usableFromInline
    static var taskCancelled: Completion {
        if let failure = Failure.self as? any CancellationReporting.Type,
            let error = failure.taskCancelled as? Failure
        {
            return .failed(error)
        }
        // `any Error` holds Swift's own.
        return (CancellationError() as? Failure).map(Completion.failed) ?? .finished
    }
}
