/// A read-only view of a value that changes over time, for everyone except its owner.
///
/// ```swift
/// final class Player {
///     private let mutableVolume = MutableProperty(0.5)
///     var volume: Property<Double> { Property(mutableVolume) }
///     var isMuted: Property<Bool> { mutableVolume.map { $0 == 0 } }
/// }
/// ```
///
/// Reading is thread-safe.
public struct Property<Value: Sendable>: Sendable {
    @usableFromInline let read: @Sendable () -> Value
    /// The current value, then each new one. Never ends.
    public let observable: Observable<Value, Never>
    /// Names the mutable property that the value comes from.
    @usableFromInline let name: Naming

    @usableFromInline
    typealias Naming = @Sendable (String, (@Sendable (Value) -> String)?, StaticString, UInt) -> Void

    /// Creates a view of a mutable property.
    @inlinable
    public init(_ property: MutableProperty<Value>) {
        self.init(read: { property.value }, property.observable) { name, showing, fileID, line in
            property.inspected(name, showing: showing, fileID: fileID, line: line)
        }
    }

    @usableFromInline
    init(
        read: @escaping @Sendable () -> Value, _ observable: Observable<Value, Never>, name: @escaping Naming
    ) {
        self.read = read
        self.observable = observable
        self.name = name
    }

    /// The current value.
    @inlinable
    public var value: Value { read() }

    /// A property whose value is that of this one, transformed.
    ///
    /// The result is not stored: `transform` runs for each read, and for each value of each subscription. It must
    /// return the same result for the same value.
    public func map<T: Sendable>(_ transform: @escaping @Sendable (Value) -> T) -> Property<T> {
        Property<T>(read: { [read] in transform(read()) }, observable.map(transform)) {
            [name] text, showing, fileID, line in
            name(text, { (showing ?? ShortText.of)(transform($0)) }, fileID, line)
        }
    }
}

extension Property where Value: Equatable {
    /// The same property, whose subscribers do not receive a value equal to the one before.
    func distinct() -> Property {
        Property(read: read, observable.distinctUntilChanged(), name: name)
    }
}

extension MutableProperty {
    /// A property whose value is that of this one, transformed; see ``Property/map(_:)``.
    public func map<T: Sendable>(_ transform: @escaping @Sendable (Value) -> T) -> Property<T> {
        Property(self).map(transform)
    }
}
