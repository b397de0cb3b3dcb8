/// Mutable state of one operator in one subscription.
@usableFromInline
final class Confined<Value>: @unchecked Sendable {
    // Unchecked, and spared the checks of exclusivity: an operator touches its state only from inside its
    // subscription's lane, which is serial.
    @safe @exclusivity(unchecked) @usableFromInline var value: Value

    @inlinable
    init(_ value: Value) { self.value = value }
}
