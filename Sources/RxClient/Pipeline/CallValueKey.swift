/// The key of a value that interceptors store in a call; see ``CallContext/subscript(_:)``.
///
/// ```swift
/// enum StartOfWait: CallValueKey {
///     static var initial: Duration? { nil }
/// }
///
/// call[StartOfWait.self] = call.scheduler.now
/// ```
public protocol CallValueKey {
    /// The type of the value.
    associatedtype Value: Sendable
    /// The value before one is set.
    static var initial: Value { get }
}
