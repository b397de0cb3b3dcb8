public import Synchronization

/// A value that changes over time, and can be read and set at any moment.
///
/// ```swift
/// let runningRequests = MutableProperty(0)
/// runningRequests.map { $0 > 0 }.subscribe { indicator.isVisible = $0 }
/// runningRequests.update { $0 += 1 }
/// ```
///
/// Reading and writing are thread-safe. A property that is released lets go of its subscribers. Subscribers get every
/// value since their subscription, in the order in which they were set. A ``Property`` is a read-only view of it.
public final class MutableProperty<Value: Sendable>: Sendable {
    @usableFromInline
    struct Contents {
        @usableFromInline var value: Value
        /// Values that have been set, and not delivered yet.
        @usableFromInline var undelivered: [Value] = []

        @inlinable
        init(value: Value) { self.value = value }
    }

    @usableFromInline let contents: Mutex<Contents>
    @usableFromInline let multicaster: Multicaster<Value, Never>

    /// Creates a property with a first value.
    @inlinable
    public init(_ value: Value) {
        contents = Mutex(Contents(value: value))
        multicaster = Multicaster(replaying: 1, initial: [value])
    }

    deinit { multicaster.abandon() }

    /// The current value.
    @inlinable
    public var value: Value {
        get { contents.withLock { $0.value } }
        set { update { $0 = newValue } }
    }

    /// Changes the value in one step, without interruption by other threads.
    ///
    /// `change` runs under a lock: it must not access this property again.
    @inlinable
    public func update(_ change: (inout Value) -> Void) {
        guard multicaster.lane.tryEnter() else {
            contents.withLock { contents in
                change(&contents.value)
                contents.undelivered.append(contents.value)
            }
            return multicaster.lane.enqueue { self.deliver() }
        }
        // No delivery is running or can begin, so most values can be delivered immediately.
        let next = contents.withLock { contents -> Value? in
            change(&contents.value)
            guard contents.undelivered.isEmpty else {
                contents.undelivered.append(contents.value)
                return nil
            }
            return contents.value
        }
        if let next { multicaster.deliver(next) } else { deliver() }
        multicaster.lane.leave()
    }

    /// The current value, then each new one. Never ends.
    @inlinable
    public var observable: Observable<Value, Never> {
        Observable { [multicaster] observer in multicaster.add(observer) }
    }

    @inlinable
    func deliver() {
        let values = contents.withLock { contents in
            let values = contents.undelivered
            contents.undelivered = []
            return values
        }
        for value in values { multicaster.deliver(value) }
    }
}

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
    /// This property, whose subscribers do not receive a value equal to the previous one.
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
