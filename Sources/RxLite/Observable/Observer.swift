/// The receiving end of one subscription, which a source calls.
///
/// The grammar is: ``next(_:)`` any number of times, then ``end`` at most once, then nothing; all from inside
/// `scope.lane`, and nothing once `scope.isOpen` is false. A source keeps to it by checking the scope before
/// each call. The receiver of an end closes the scope of that end.
@frozen
public struct Observer<Element: Sendable, Failure: Error>: Sendable {
    /// The scope of the subscription.
    public let scope: Scope
    /// Receives a value for `target`, which holds the operator's state of the subscription. A closure that
    /// captures only the user's closure is merged with it into one function, without a context.
    @usableFromInline let receive: @Sendable (Element, any AnyObject & Sendable) -> Void
    /// The object that `receive` casts to its operator's type without a check: pass on both or neither.
    @usableFromInline let target: any AnyObject & Sendable
    /// Receives the end.
    public let end: @Sendable (Completion<Failure>) -> Void

    /// Creates an observer from its two callbacks.
    @inlinable
    public init(
        scope: Scope,
        next: @escaping @Sendable (Element) -> Void,
        end: @escaping @Sendable (Completion<Failure>) -> Void
    ) {
        self.init(scope: scope, target: scope, receive: { value, _ in next(value) }, end: end)
    }

    /// Creates an observer whose `receive` gets `target`, which holds the operator's state, instead of
    /// capturing it.
    @inlinable
    package init(
        scope: Scope, target: any AnyObject & Sendable,
        receive: @escaping @Sendable (Element, any AnyObject & Sendable) -> Void,
        end: @escaping @Sendable (Completion<Failure>) -> Void
    ) {
        self.scope = scope
        self.receive = receive
        self.target = target
        self.end = end
    }

    /// Creates an observer that receives values like `other`, with another scope and end.
    @inlinable
    package init<E>(
        scope: Scope, as other: Observer<Element, E>, end: @escaping @Sendable (Completion<Failure>) -> Void
    ) {
        self.init(scope: scope, target: other.target, receive: other.receive, end: end)
    }

    /// Receives a value.
    @inlinable
    public func next(_ value: Element) {
        scope.lane.assertInside()
        receive(value, target)
    }

    /// Ends the stream successfully.
    @inlinable
    public func finish() {
        scope.lane.assertInside()
        end(.finished)
    }

    /// Ends the stream with an error.
    @inlinable
    public func fail(_ error: Failure) {
        scope.lane.assertInside()
        end(.failed(error))
    }

    /// Delivers the only value and the end, or the failure, from any thread. Does nothing if the scope is closed.
    /// Unlike ``emitOnly(_:)``, it does not wait while the subscriber is paused.
    @inlinable
    package func complete(with result: Result<Element, Failure>) {
        let lane = scope.lane
        guard lane.tryEnter() else {
            return lane.enqueue { if scope.isOpen { deliver(result) } }
        }
        if scope.isOpen { deliver(result) }
        lane.leave()
    }

    @inlinable
    func deliver(_ result: Result<Element, Failure>) {
        switch result {
        case .success(let value):
            next(value)
            // The value may have led to a cancel.
            if scope.isOpen { finish() }
        case .failure(let error): fail(error)
        }
    }

    /// Ends, or lets the lane's queue do it if ends that lead to each other are nested too deep.
    @inlinable
    func endNested(_ completion: Completion<Failure>) {
        scope.lane.assertInside()
        if scope.lane.tryNesting() {
            end(completion)
            scope.lane.endNesting()
        } else {
            scope.enter { [end] in end(completion) }
        }
    }

    /// Passes on the value that `produce` returns, or the error that it throws.
    @inlinable
    func next(_ produce: () throws(Failure) -> Element) {
        let value: Element
        do throws(Failure) { value = try produce() } catch { return fail(error) }
        next(value)
    }
}

/// How a stream ended.
@frozen
public enum Completion<Failure: Error>: Sendable {
    /// Every value has been delivered.
    case finished
    /// The stream failed; no value follows.
    case failed(Failure)
}

extension Completion: Equatable where Failure: Equatable {}

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
