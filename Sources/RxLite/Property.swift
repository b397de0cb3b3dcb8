/// A value that changes over time, as everybody but its owner sees it: to be read and observed, and not written.
///
/// ```swift
/// final class Player {
///     private let volumeState = State(0.5)
///     var volume: Property<Double> { Property(volumeState) }
/// }
/// ```
///
/// Reading is safe from any thread.
public struct Property<Value: Sendable>: Sendable {
    @usableFromInline let state: State<Value>

    /// Creates a view of a state.
    @inlinable
    public init(_ state: State<Value>) { self.state = state }

    /// The current value.
    @inlinable
    public var value: Value { state.value }

    /// The current value, then each one that is set. Never ends.
    @inlinable
    public var observable: Observable<Value, Never> { state.observable }
}
