/// A hot stream that receives its values from outside and never fails: a button, a notification, a command.
///
/// ```swift
/// let reload = Signal<Void>()
/// reload.subscribe { print("reloading") }
/// reload.send()
/// ```
///
/// All current subscribers get each value, in the same order. Sending is thread-safe; a value sent from
/// within a delivery is delivered after it.
public final class Signal<Element: Sendable>: Sendable {
    @usableFromInline let multicaster = Multicaster<Element, Never>()

    /// Creates a signal without subscribers.
    @inlinable
    public init() {}

    /// The values sent after the subscription. Never ends.
    @inlinable
    public var observable: Observable<Element, Never> {
        Observable { [multicaster] observer in multicaster.add(observer) }
    }

    /// Sends a value to all subscribers.
    @inlinable
    public func send(_ value: Element) { multicaster.send(value) }
}

extension Signal<Void> {
    /// Sends a value.
    @inlinable
    public func send() { send(()) }
}
