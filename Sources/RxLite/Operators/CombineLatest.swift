extension Observable {
    /// With each value of one of two streams, the latest of both as a tuple, once each has sent its
    /// first. Ends when all have ended, or with the first error.
    ///
    /// ```
    ///               --1-----2-----|
    ///               ----a-b----c--------|
    /// combineLatest
    ///               ----1a1b2b-2c-------|
    /// ```
    ///
    /// The streams fail with one type; `setFailureType()` fits in those that cannot fail.
    @inlinable
    public static func combineLatest<A, B>(
        _ a: Observable<A, Failure>, _ b: Observable<B, Failure>
    ) -> Observable where Element == (A, B) {
        combineLatestAll(a, b)
    }

    /// The same for three streams.
    @inlinable
    public static func combineLatest<A, B, C>(
        _ a: Observable<A, Failure>, _ b: Observable<B, Failure>, _ c: Observable<C, Failure>
    ) -> Observable where Element == (A, B, C) {
        combineLatestAll(a, b, c)
    }

    /// The same for four streams.
    @inlinable
    public static func combineLatest<A, B, C, D>(
        _ a: Observable<A, Failure>, _ b: Observable<B, Failure>, _ c: Observable<C, Failure>,
        _ d: Observable<D, Failure>
    ) -> Observable where Element == (A, B, C, D) {
        combineLatestAll(a, b, c, d)
    }

    /// The same for five streams.
    @inlinable
    public static func combineLatest<A, B, C, D, E>(
        _ a: Observable<A, Failure>, _ b: Observable<B, Failure>, _ c: Observable<C, Failure>,
        _ d: Observable<D, Failure>, _ e: Observable<E, Failure>
    ) -> Observable where Element == (A, B, C, D, E) {
        combineLatestAll(a, b, c, d, e)
    }

    /// Every public form leads here. It is not public itself: the compiler does not infer the error type of
    /// what is chained to a call with a parameter pack.
    @inlinable
    static func combineLatestAll<each Input: Sendable>(
        _ streams: repeat Observable<each Input, Failure>
    ) -> Observable where Element == (repeat each Input) {
        Observable(scheduler: commonScheduler(of: repeat each streams)) { observer in
            guard observer.scope.isOpen else { return }
            let combining = LatestCombining(into: observer)
            let inputs = (repeat LatestInput(of: combining, each streams))
            combining.emit = { observer.next((repeat (each inputs).latest)) }
            repeat (each inputs).start()
        }
    }

    /// With each value of any of the `streams`, the latest of all of them as an array, once each has sent its
    /// first. Ends when all have ended, or with the first error; at once if there are no streams.
    @inlinable
    public static func combineLatest<Input>(_ streams: [Observable<Input, Failure>]) -> Observable
    where Element == [Input] {
        guard !streams.isEmpty else { return .empty() }
        return Observable(scheduler: Observable<Input, Failure>.commonScheduler(of: streams)) { observer in
            guard observer.scope.isOpen else { return }
            let combining = LatestCombining(into: observer)
            let inputs = streams.map { LatestInput(of: combining, $0) }
            combining.emit = { observer.next(inputs.map(\.latest)) }
            for input in inputs { input.start() }
        }
    }

    /// The scheduler that a combination of `streams` delivers on: that of the first which has one.
    @usableFromInline
    static func commonScheduler<each Input>(
        of streams: repeat Observable<each Input, Failure>
    ) -> (any Scheduler)? {
        for stream in repeat each streams {
            if let scheduler = stream.scheduler { return scheduler }
        }
        return nil
    }
}

/// One running combineLatest. It counts its inputs, which have types of their own.
@usableFromInline
final class LatestCombining<Failure: Error>: @unchecked Sendable {
    // Unchecked: runs only inside the subscription's lane, which is serial.

    /// Hands the latest values on.
    @usableFromInline var emit: () -> Void = {}
    fileprivate let scope: Scope
    /// How many inputs have not sent anything yet.
    fileprivate var missingCount = 0
    fileprivate var runningCount = 0
    private let end: @Sendable (Completion<Failure>) -> Void

    @usableFromInline
    init<Output>(into observer: Observer<Output, Failure>) {
        end = observer.end
        scope = observer.scope.child()
        scope.onClose { self.emit = {} }
    }

    fileprivate func finish(_ completion: Completion<Failure>) {
        scope.close()
        end(completion)
    }
}

/// One input of a combineLatest.
@usableFromInline
final class LatestInput<Element: Sendable, Failure: Error>: @unchecked Sendable {
    // Unchecked: runs only inside the subscription's lane, which is serial.
    private let combining: LatestCombining<Failure>
    private let stream: Observable<Element, Failure>
    private let scope: Scope
    private var value: Element?

    @usableFromInline
    init(of combining: LatestCombining<Failure>, _ stream: Observable<Element, Failure>) {
        self.combining = combining
        self.stream = stream
        scope = combining.scope.child()
        combining.missingCount += 1
        combining.runningCount += 1
        combining.scope.onClose { self.value = nil }
    }

    @usableFromInline
    func start() {
        guard scope.isOpen else { return }
        stream.subscribe(
            Observer(scope: scope, next: { self.receive($0) }, end: { self.receiveEnd($0) }))
    }

    /// Only once no input is missing a value.
    @usableFromInline
    var latest: Element { value! }

    private func receive(_ value: Element) {
        if self.value == nil { combining.missingCount -= 1 }
        self.value = value
        if combining.missingCount == 0 { combining.emit() }
    }

    private func receiveEnd(_ completion: Completion<Failure>) {
        if case .failed = completion { return combining.finish(completion) }
        scope.close()
        combining.runningCount -= 1
        if combining.runningCount == 0 { combining.finish(.finished) }
    }
}
