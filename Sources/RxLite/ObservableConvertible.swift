/// A type that can be used as a stream: ``Observable``, ``Signal``, ``MutableProperty`` and ``Property``.
///
/// Operators that take a second stream accept any of them: `take(until: stop)`, `withLatestFrom(filter)`.
public protocol ObservableConvertible<Element, Failure>: Sendable {
    /// The type of the values.
    associatedtype Element: Sendable
    /// The error type; `Never` if the stream cannot fail.
    associatedtype Failure: Error

    /// The stream.
    var observable: Observable<Element, Failure> { get }
}

extension Observable: ObservableConvertible {
    /// This stream.
    @inlinable public var observable: Observable { self }
}

extension ObservableConvertible where Failure == Never {
    /// Sets `property` to each value of the stream.
    ///
    /// ```swift
    /// names.map { "\($0.count) names" }.bind(to: title)
    /// ```
    ///
    /// The property is retained until the stream has ended or the subscription is cancelled. The end of the stream
    /// leaves the last value in place.
    ///
    /// - Returns: the subscription, which ends the binding when it is cancelled.
    @inlinable
    @discardableResult
    public func bind(to property: MutableProperty<Element>) -> Subscription {
        observable.subscribe { property.value = $0 }
    }
}
