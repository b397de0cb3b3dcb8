/// Mutable state of one operator in one subscription.
@usableFromInline
final class Confined<Value>: @unchecked Sendable {
    // Unchecked, without exclusivity checks: an operator accesses its state only from inside its
    // subscription's lane, which is serial. Debug builds check that.
    #if DEBUG
    @safe @exclusivity(unchecked) @usableFromInline var contents: Value
    @usableFromInline let lane: Lane

    @inlinable var value: Value {
        _read {
            lane.assertInside()
            yield contents
        }
        _modify {
            lane.assertInside()
            yield &contents
        }
    }
    #else
    @safe @exclusivity(unchecked) @usableFromInline var value: Value
    #endif

    @inlinable
    init(_ value: Value, in lane: Lane) {
        #if DEBUG
        contents = value
        self.lane = lane
        #else
        self.value = value
        #endif
    }
}
