/// A value that its copies share until one of them is changed, for large values that are passed on far more
/// often than changed. A copy costs one retain.
@propertyWrapper @usableFromInline
package struct CopyOnWrite<Value: Sendable>: Sendable {
    // Unchecked, without exclusivity checks: changed only while a single copy references it.
    @usableFromInline
    final class Box: @unchecked Sendable {
        @usableFromInline @safe @exclusivity(unchecked) var value: Value

        @inlinable
        init(_ value: Value) { self.value = value }
    }

    @usableFromInline var box: Box

    @inlinable
    package init(wrappedValue: Value) { box = Box(wrappedValue) }

    @inlinable package var wrappedValue: Value {
        _read { yield box.value }
        _modify {
            if !isKnownUniquelyReferenced(&box) { box = Box(box.value) }
            yield &box.value
        }
    }

    /// Whether this is a copy of `other`, and neither has been changed since.
    @inlinable
    package func isShared(with other: CopyOnWrite) -> Bool { box === other.box }
}

extension CopyOnWrite: Equatable where Value: Equatable {
    /// Whether the values are equal; copies are, without a comparison.
    @usableFromInline package static func == (first: Self, second: Self) -> Bool {
        first.isShared(with: second) || first.wrappedValue == second.wrappedValue
    }
}

extension CopyOnWrite: Hashable where Value: Hashable {
    @usableFromInline package func hash(into hasher: inout Hasher) { hasher.combine(wrappedValue) }
}
