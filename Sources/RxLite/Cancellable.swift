/// Something under way that can be called off.
public protocol Cancellable: Sendable {
    /// Calls it off. Safe from any thread and any number of times; after the end it does nothing.
    func cancel()
}
