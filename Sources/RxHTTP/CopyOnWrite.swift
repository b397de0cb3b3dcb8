/// A value that is shared by its copies until one of them is changed: for what is large and handed on far more
/// often than changed. A copy costs one retain.
@propertyWrapper
struct CopyOnWrite<Value: Sendable>: Sendable {
    // Unchecked, and spared the checks of exclusivity: changed only by the one copy that holds it alone.
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
