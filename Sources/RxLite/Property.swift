/// A read-only view of a value that changes over time, for everyone except its owner.
///
/// ```swift
/// final class Player {
///     private let volumeState = State(0.5)
///     var volume: Property<Double> { Property(volumeState) }
/// }
/// ```
///
/// Reading is thread-safe.
public struct Property<Value: Sendable>: Sendable {
    @usableFromInline let state: State<Value>

    /// Creates a view of a state.
    @inlinable
    public init(_ state: State<Value>) { self.state = state }

    /// The current value.
    @inlinable
    public var value: Value { state.value }

    /// The current value, then each new one. Never ends.
    @inlinable
    public var observable: Observable<Value, Never> { state.observable }
}
