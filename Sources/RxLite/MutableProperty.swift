public import Synchronization

/// A value that changes over time, and can be read and set at any moment.
///
/// ```swift
/// let runningRequests = MutableProperty(0)
/// runningRequests.map { $0 > 0 }.subscribe { indicator.isVisible = $0 }
/// runningRequests.update { $0 += 1 }
/// ```
///
/// Reading and writing are thread-safe. Subscribers get every value since their subscription, in the order in
/// which they were set. A ``Property`` is a read-only view of it.
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
