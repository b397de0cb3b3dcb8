/// A value that its copies share until one of them is changed, for large values that are passed on far more
/// often than changed. A copy costs one retain.
@propertyWrapper
struct CopyOnWrite<Value: Sendable>: Sendable {
    // Unchecked, without exclusivity checks: changed only while a single copy references it.
    private final class Box: @unchecked Sendable {
        @safe @exclusivity(unchecked) var value: Value

        init(_ value: Value) { self.value = value }
    }

    private var box: Box

    init(wrappedValue: Value) { box = Box(wrappedValue) }

    var wrappedValue: Value {
        _read { yield box.value }
        _modify {
            if !isKnownUniquelyReferenced(&box) { box = Box(box.value) }
            yield &box.value
        }
    }
}
