/// The receiving end of one subscription: what a source calls.
///
/// The grammar is: ``next(_:)`` any number of times, then ``end`` at most once, then nothing; all from inside
/// `scope.lane`, and nothing once `scope.isOpen` is false. A source keeps it by looking at the scope before each call.
/// The receiver of an end closes the scope of that end.
@frozen
public struct Observer<Element: Sendable, Failure: Error>: Sendable {
    /// The subscription this observer belongs to.
    public let scope: Scope
    /// Takes a value on behalf of `target`, where the operator keeps what belongs to the subscription. A
    /// closure that captures no more than the user's own becomes one function with it, and no context.
    @usableFromInline let receive: @Sendable (Element, any AnyObject & Sendable) -> Void
    @usableFromInline let target: any AnyObject & Sendable
    /// Takes the end.
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

    /// One whose `receive` gets `target`, where the operator keeps what it has, in place of capturing it.
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

    /// One that takes values as `other` does, under a scope and with an end of its own.
    @inlinable
    init<E>(
        scope: Scope, as other: Observer<Element, E>, end: @escaping @Sendable (Completion<Failure>) -> Void
    ) {
        self.init(scope: scope, target: other.target, receive: other.receive, end: end)
    }

    /// Takes a value.
    @inlinable
    public func next(_ value: Element) {
        scope.lane.assertInside()
        receive(value, target)
    }

    /// Ends well.
    @inlinable
    public func finish() {
        scope.lane.assertInside()
        end(.finished)
    }

    /// Ends with an error.
    @inlinable
    public func fail(_ error: Failure) {
        scope.lane.assertInside()
        end(.failed(error))
    }

    /// Ends, or has the lane's queue do it where ends that lead to each other have become deep.
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

    /// Hands a value on from code that may throw instead of producing it.
    @inlinable
    func next(_ produce: () throws(Failure) -> Element) {
        let value: Element
        do throws(Failure) { value = try produce() } catch { return fail(error) }
        next(value)
    }
}
