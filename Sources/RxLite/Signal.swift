/// A hot stream that is sent to from outside and never fails: a button, a notification, a command.
///
/// ```swift
/// let reload = Signal<Void>()
/// reload.observable.subscribe { print("reloading") }
/// reload.send()
/// ```
///
/// Everyone who listens at the time gets each value, all in the same order. Sending is safe from any
/// thread; a value sent from within a delivery is delivered after it.
public final class Signal<Element: Sendable>: Sendable {
    @usableFromInline let hub = Hub<Element, Never>()

    /// Creates a signal nobody listens to.
    @inlinable
    public init() {}

    /// The values sent from the time of subscription on. Never ends.
    @inlinable
    public var observable: Observable<Element, Never> {
        Observable { [hub] observer in hub.add(observer) }
    }

    /// Sends a value to all who listen.
    @inlinable
    public func send(_ value: Element) { hub.send(value) }
}

extension Signal<Void> {
    /// Sends.
    @inlinable
    public func send() { send(()) }
}
