/// The treatment of a value that reaches `flatMap` while earlier inner streams run.
public enum FlattenStrategy: Sendable, Equatable {
    /// Inner streams run side by side, at most `limit` of them (less than one counts as one). Further values
    /// wait for their turn, and a source that can pause is paused.
    case merge(limit: Int)
    /// The previous inner stream is cancelled before the new one begins, and torn down on all schedulers that it
    /// uses. Of several values that arrive meanwhile, the last one starts a stream.
    case latest
    /// Values are dropped until the running inner stream has ended.
    case first

    /// All inner streams side by side, without limit.
    public static let merge = FlattenStrategy.merge(limit: .max)
    /// One inner stream after another.
    public static let concat = FlattenStrategy.merge(limit: 1)
}

extension Observable {
    /// Each value starts a stream. Their values form one stream, which ends when the source and all of them
    /// have ended, or with the first error of any.
    ///
    /// ```
    ///                          -a------b---c-|
    /// flatMap { --$0--$0| }
    ///                          ---a--a---b--bc--c|   .merge, the default
    ///                          ---a--a---b--b--c--c| .concat
    ///                          ---a--a---b---c--c|   .latest
    ///                          ---a--a---b--b|       .first
    /// ```
    ///
    /// ```swift
    /// query.flatMap(.latest) { client.get("/search", query: ["q": $0]) }
    /// ```
    @inlinable
    public func flatMap<T>(
        _ strategy: FlattenStrategy = .merge,
        _ transform: @escaping @Sendable (Element) -> Observable<T, Failure>
    ) -> Observable<T, Failure> {
        flatMap(strategy, transform as @Sendable (Element) throws(Failure) -> Observable<T, Failure>)
    }

    /// Each value starts a stream. A thrown error ends the whole.
    @inlinable
    @_disfavoredOverload
    public func flatMap<T>(
        _ strategy: FlattenStrategy = .merge,
        _ transform: @escaping @Sendable (Element) throws(Failure) -> Observable<T, Failure>
    ) -> Observable<T, Failure> {
        lift { observer in Flattening(strategy, into: observer, transform).outer }
    }

    /// Each value starts a stream that cannot fail.
    @inlinable
    @_disfavoredOverload
    public func flatMap<T>(
        _ strategy: FlattenStrategy = .merge,
        _ transform: @escaping @Sendable (Element) -> Observable<T, Never>
    ) -> Observable<T, Failure> {
        flatMap(strategy) { value in transform(value).setFailureType(to: Failure.self) }
    }
}

extension Observable where Failure == Never {
    /// Each value of a stream that cannot fail starts one that can. `transform` returns `.fail` instead of
    /// throwing, because the compiler does not infer `E` from a closure that may throw.
    @inlinable
    @_disfavoredOverload
    public func flatMap<T, E>(
        _ strategy: FlattenStrategy = .merge,
        _ transform: @escaping @Sendable (Element) -> Observable<T, E>
    ) -> Observable<T, E> {
        setFailureType(to: E.self).flatMap(strategy, transform)
    }
}
