extension Observable {
    /// The latest values of both streams as a tuple, with each value of one of them, once each has sent its
    /// first. Ends when both have ended, or with the first error.
    ///
    /// ```
    ///               --1-----2-----|
    ///               ----a-b----c--------|
    /// combineLatest
    ///               ----1a1b2b-2c-------|
    /// ```
    ///
    /// The streams must have the same error type; `setFailureType()` adapts streams that cannot fail.
    @inlinable
    public static func combineLatest<A, B>(
        _ a: Observable<A, Failure>, _ b: Observable<B, Failure>
    ) -> Observable where Element == (A, B) {
        combination(on: a.scheduler ?? b.scheduler) { (combining: LatestCombining<Failure>, observer) in
            let (a, b) = (combining.input(a), combining.input(b))
            return { observer.next((a.latest, b.latest)) }
        }
    }

    /// The same for three streams.
    @inlinable
    public static func combineLatest<A, B, C>(
        _ a: Observable<A, Failure>, _ b: Observable<B, Failure>, _ c: Observable<C, Failure>
    ) -> Observable where Element == (A, B, C) {
        combination(on: a.scheduler ?? b.scheduler ?? c.scheduler) {
            (combining: LatestCombining<Failure>, observer) in
            let (a, b, c) = (combining.input(a), combining.input(b), combining.input(c))
            return { observer.next((a.latest, b.latest, c.latest)) }
        }
    }

    /// The same for four streams.
    @inlinable
    public static func combineLatest<A, B, C, D>(
        _ a: Observable<A, Failure>, _ b: Observable<B, Failure>, _ c: Observable<C, Failure>,
        _ d: Observable<D, Failure>
    ) -> Observable where Element == (A, B, C, D) {
        combination(on: a.scheduler ?? b.scheduler ?? c.scheduler ?? d.scheduler) {
            (combining: LatestCombining<Failure>, observer) in
            let (a, b, c, d) = (
                combining.input(a), combining.input(b), combining.input(c), combining.input(d)
            )
            return { observer.next((a.latest, b.latest, c.latest, d.latest)) }
        }
    }

    /// The same for five streams.
    @inlinable
    public static func combineLatest<A, B, C, D, E>(
        _ a: Observable<A, Failure>, _ b: Observable<B, Failure>, _ c: Observable<C, Failure>,
        _ d: Observable<D, Failure>, _ e: Observable<E, Failure>
    ) -> Observable where Element == (A, B, C, D, E) {
        combination(on: a.scheduler ?? b.scheduler ?? c.scheduler ?? d.scheduler ?? e.scheduler) {
            (combining: LatestCombining<Failure>, observer) in
            let (a, b, c, d, e) = (
                combining.input(a), combining.input(b), combining.input(c), combining.input(d),
                combining.input(e)
            )
            return { observer.next((a.latest, b.latest, c.latest, d.latest, e.latest)) }
        }
    }

    /// The latest values of all `streams` as an array, with each value of any of them, once each has sent its
    /// first. Ends when all have ended, or with the first error; at once if there are no streams.
    @inlinable
    public static func combineLatest<Input>(_ streams: [Observable<Input, Failure>]) -> Observable
    where Element == [Input] {
        guard !streams.isEmpty else { return .empty() }
        return combination(on: Observable<Input, Failure>.commonScheduler(of: streams)) {
            (combining: LatestCombining<Failure>, observer) in
            let inputs = streams.map { combining.input($0) }
            return { observer.next(inputs.map { $0.latest }) }
        }
    }
}
