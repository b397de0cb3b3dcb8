/// A stream that sends with or without subscribers and cannot fail: ``Signal``, ``MutableProperty`` and ``Property``.
///
/// The usual operators can be called on it directly. For all others there is ``ObservableConvertible/observable``.
///
/// ```swift
/// let query = Signal<String>()
/// query.debounce(.milliseconds(300)).distinctUntilChanged().subscribe { print($0) }
/// ```
public protocol HotObservable<Element>: ObservableConvertible where Failure == Never {}

extension Signal: HotObservable {}
extension MutableProperty: HotObservable {}
extension Property: HotObservable {}

extension HotObservable {
    /// Each value, transformed.
    @inlinable
    public func map<T: Sendable>(
        _ transform: @escaping @Sendable (Element) -> T
    ) -> Observable<T, Never> {
        observable.map(transform)
    }

    /// Each value, transformed, except those for which the result is `nil`.
    @inlinable
    public func compactMap<T: Sendable>(
        _ transform: @escaping @Sendable (Element) -> T?
    ) -> Observable<T, Never> {
        observable.compactMap(transform)
    }

    /// The values that satisfy `isIncluded`.
    @inlinable
    public func filter(
        _ isIncluded: @escaping @Sendable (Element) -> Bool
    ) -> Observable<Element, Never> {
        observable.filter(isIncluded)
    }

    /// The running result of combining each value with the earlier ones.
    @inlinable
    public func scan<Result: Sendable>(
        _ initial: Result, _ combine: @escaping @Sendable (Result, Element) -> Result
    ) -> Observable<Result, Never> {
        observable.scan(initial, combine)
    }

    /// Each value starts a stream, whose values and error are those of the result; see `Observable.flatMap`.
    @inlinable
    public func flatMap<T, E>(
        _ strategy: FlattenStrategy = .merge,
        _ transform: @escaping @Sendable (Element) -> Observable<T, E>
    ) -> Observable<T, E> {
        observable.setFailureType(to: E.self).flatMap(strategy, transform)
    }

    /// Each value with the previous one.
    @inlinable
    public func pairwise() -> Observable<(previous: Element, current: Element), Never> {
        observable.pairwise()
    }

    /// The values that differ from the previous one according to `areEquivalent(before, value)`.
    @inlinable
    public func distinctUntilChanged(
        by areEquivalent: @escaping @Sendable (Element, Element) -> Bool
    ) -> Observable<Element, Never> {
        observable.distinctUntilChanged(by: areEquivalent)
    }

    /// The values whose key differs from the previous value's key.
    @inlinable
    public func distinctUntilChanged<Key: Equatable & Sendable>(
        by key: @escaping @Sendable (Element) -> Key
    ) -> Observable<Element, Never> {
        observable.distinctUntilChanged(by: key)
    }

    /// A stream of the values of each key; see ``Observable/groupBy(_:)``.
    @inlinable
    public func groupBy<Key: Hashable & Sendable>(
        _ key: @escaping @Sendable (Element) -> Key
    ) -> Observable<GroupedObservable<Key, Element, Never>, Never> {
        observable.groupBy(key)
    }

    /// `values` first, then those of this stream.
    @inlinable
    public func startWith(_ values: Element...) -> Observable<Element, Never> {
        .concat([.sequence(values), observable])
    }

    /// These values and those of another stream that cannot fail, as they arrive.
    @inlinable
    public func merge<Other: ObservableConvertible>(
        with other: Other
    ) -> Observable<Element, Never> where Other.Element == Element, Other.Failure == Never {
        observable.merge(with: other)
    }

    /// These values and those of a stream that can fail, as they arrive.
    @inlinable
    public func merge<E>(with other: Observable<Element, E>) -> Observable<Element, E> {
        observable.merge(with: other)
    }

    /// For each value, the latest of `other`.
    @inlinable
    public func withLatestFrom<Other: ObservableConvertible>(
        _ other: Other
    ) -> Observable<Other.Element, Never> where Other.Failure == Never {
        observable.withLatestFrom(other)
    }

    /// Each value together with the latest of `other`.
    @inlinable
    public func withLatestFrom<Other: ObservableConvertible, T: Sendable>(
        _ other: Other, _ combine: @escaping @Sendable (Element, Other.Element) -> T
    ) -> Observable<T, Never> where Other.Failure == Never {
        observable.withLatestFrom(other, combine)
    }

    /// The latest value each time `notifier` sends, if that value has not been sent yet.
    @inlinable
    public func sample<Notifier: ObservableConvertible>(
        by notifier: Notifier
    ) -> Observable<Element, Never> where Notifier.Failure == Never {
        observable.sample(by: notifier)
    }

    /// The first `count` values, then the end.
    @inlinable
    public func take(_ count: Int) -> Observable<Element, Never> {
        observable.take(count)
    }

    /// The values as long as they satisfy `predicate`, then the end.
    @inlinable
    public func take(
        while predicate: @escaping @Sendable (Element) -> Bool, inclusive: Bool = false
    ) -> Observable<Element, Never> {
        observable.take(while: predicate, inclusive: inclusive)
    }

    /// The values until `notifier` sends its first value; then the end.
    @inlinable
    public func take<Notifier: ObservableConvertible>(
        until notifier: Notifier
    ) -> Observable<Element, Never> where Notifier.Failure == Never {
        observable.take(until: notifier)
    }

    /// The first value that satisfies `predicate`, then the end.
    @inlinable
    public func first(
        where predicate: @escaping @Sendable (Element) -> Bool
    ) -> Observable<Element, Never> {
        observable.first(where: predicate)
    }

    /// The values after the first `count`; with one, those after the current value of a property.
    @inlinable
    public func skip(_ count: Int) -> Observable<Element, Never> {
        observable.skip(count)
    }

    /// The latest value after each pause of the stream; see ``Observable/debounce(_:on:)``.
    @inlinable
    public func debounce(
        _ pause: Duration, on scheduler: (any Scheduler)? = nil
    ) -> Observable<Element, Never> {
        observable.debounce(pause, on: scheduler)
    }

    /// At most one value for each `window`; see ``Observable/throttle(_:on:leading:trailing:)``, which has the same
    /// defaults.
    @inlinable
    public func throttle(
        _ window: Duration, on scheduler: (any Scheduler)? = nil, leading: Bool = true, trailing: Bool = false
    ) -> Observable<Element, Never> {
        observable.throttle(window, on: scheduler, leading: leading, trailing: trailing)
    }

    /// The values, each `delay` later.
    @inlinable
    public func delay(
        _ delay: Duration, on scheduler: (any Scheduler)? = nil
    ) -> Observable<Element, Never> {
        observable.delay(delay, on: scheduler)
    }

    /// Delivers the values on `scheduler`; see ``Observable/observe(on:buffering:countingDropped:)``, which has the
    /// same defaults.
    @inlinable
    public func observe(
        on scheduler: any Scheduler, buffering policy: BufferPolicy<Never> = .suspend(high: 256, low: 64),
        countingDropped droppedCount: MutableProperty<Int>? = nil
    ) -> Observable<Element, Never> {
        observable.observe(on: scheduler, buffering: policy, countingDropped: droppedCount)
    }

    /// Gives the stream an error type, so that it combines with streams that can fail.
    @inlinable
    public func setFailureType<E>(to _: E.Type = E.self) -> Observable<Element, E> {
        observable.setFailureType(to: E.self)
    }

    /// Receives each value on the thread that sends it; see
    /// ``Observable/subscribe(onNext:onFailure:onFinish:fileID:line:)``.
    @inlinable
    @discardableResult
    public func subscribe(
        onNext: @escaping @Sendable (Element) -> Void
    ) -> Subscription {
        observable.subscribe(onNext: onNext)
    }

    /// Receives each value on the main actor.
    @inlinable
    @discardableResult
    public func subscribe(
        isolatedTo actor: MainActor.Type, onNext: @escaping @MainActor (Element) -> Void
    ) -> Subscription {
        observable.subscribe(isolatedTo: actor, onNext: onNext)
    }

    /// Receives each value on `actor`.
    @inlinable
    @discardableResult
    public func subscribe<Receiver: Actor>(
        isolatedTo actor: Receiver, onNext: @escaping @Sendable (isolated Receiver, Element) -> Void
    ) -> Subscription {
        observable.subscribe(isolatedTo: actor, onNext: onNext)
    }

    /// The values for a `for await` loop; see ``Observable/values(buffering:)``.
    @inlinable
    public func values(buffering policy: BufferPolicy<Never>) -> Values<Element, Never> {
        observable.values(buffering: policy)
    }
}

extension HotObservable where Element: Equatable {
    /// The values that differ from the previous one.
    @inlinable
    public func distinctUntilChanged() -> Observable<Element, Never> {
        observable.distinctUntilChanged()
    }
}
