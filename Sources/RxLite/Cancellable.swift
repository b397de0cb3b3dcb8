/// A running operation that can be cancelled.
public protocol Cancellable: Sendable {
    /// Cancels the operation. Thread-safe, and can be called any number of times; after the end it does
    /// nothing.
    func cancel()
}
