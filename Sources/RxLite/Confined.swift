/// Mutable state of one operator in one subscription.
@usableFromInline
final class Confined<Value>: @unchecked Sendable {
    // Unchecked: an operator touches its state only from inside its subscription's lane, which is serial.
    @usableFromInline var value: Value

    @usableFromInline
    init(_ value: Value) { self.value = value }
}
