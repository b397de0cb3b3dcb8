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
    /// The streams have the same error type; one of two may also be unable to fail.
    @inlinable
    public static func combineLatest<A, B>(
        _ a: Observable<A, Failure>, _ b: Observable<B, Failure>
    ) -> Observable where Element == (A, B) {
        combination(on: a.scheduler ?? b.scheduler) { (combining: LatestCombining<Failure>, observer) in
            let (a, b) = (combining.input(a), combining.input(b))
            return { observer.next((a.latest, b.latest)) }
        }
    }

    /// The latest values of three streams as a tuple, with each value of one of them, once each has sent its first.
    /// Ends when all have ended, or with the first error.
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

    /// The latest values of four streams as a tuple, with each value of one of them, once each has sent its first.
    /// Ends when all have ended, or with the first error.
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

    /// The latest values of five streams as a tuple, with each value of one of them, once each has sent its first.
    /// Ends when all have ended, or with the first error.
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

    /// The results of `combine` for the latest values of both streams, with each value of one of them, once each has
    /// sent its first. Ends when both have ended, or with the first error.
    ///
    /// ```swift
    /// Observable.combineLatest(name, password) { !$0.isEmpty && $1.count >= 8 }.bind(to: canLogIn)
    /// ```
    @inlinable
    public static func combineLatest<A: ObservableConvertible, B: ObservableConvertible>(
        _ a: A, _ b: B, _ combine: @escaping @Sendable (A.Element, B.Element) -> Element
    ) -> Observable where A.Failure == Failure, B.Failure == Failure {
        Observable<(A.Element, B.Element), Failure>.combineLatest(a.observable, b.observable)
            .map { combine($0.0, $0.1) }
    }

    /// The results of `combine` for the latest values of three streams.
    @inlinable
    public static func combineLatest<
        A: ObservableConvertible, B: ObservableConvertible, C: ObservableConvertible
    >(
        _ a: A, _ b: B, _ c: C, _ combine: @escaping @Sendable (A.Element, B.Element, C.Element) -> Element
    ) -> Observable where A.Failure == Failure, B.Failure == Failure, C.Failure == Failure {
        Observable<(A.Element, B.Element, C.Element), Failure>.combineLatest(
            a.observable, b.observable, c.observable
        )
        .map { combine($0.0, $0.1, $0.2) }
    }

    /// The results of `combine` for the latest values of four streams.
    @inlinable
    public static func combineLatest<
        A: ObservableConvertible, B: ObservableConvertible, C: ObservableConvertible, D: ObservableConvertible
    >(
        _ a: A, _ b: B, _ c: C, _ d: D,
        _ combine: @escaping @Sendable (A.Element, B.Element, C.Element, D.Element) -> Element
    ) -> Observable
    where A.Failure == Failure, B.Failure == Failure, C.Failure == Failure, D.Failure == Failure {
        Observable<(A.Element, B.Element, C.Element, D.Element), Failure>.combineLatest(
            a.observable, b.observable, c.observable, d.observable
        )
        .map { combine($0.0, $0.1, $0.2, $0.3) }
    }

    /// The results of `combine` for the latest values of five streams.
    @inlinable
    public static func combineLatest<
        A: ObservableConvertible, B: ObservableConvertible, C: ObservableConvertible,
        D: ObservableConvertible, E: ObservableConvertible
    >(
        _ a: A, _ b: B, _ c: C, _ d: D, _ e: E,
        _ combine: @escaping @Sendable (A.Element, B.Element, C.Element, D.Element, E.Element) -> Element
    ) -> Observable
    where
        A.Failure == Failure, B.Failure == Failure, C.Failure == Failure, D.Failure == Failure,
        E.Failure == Failure
    {
        Observable<(A.Element, B.Element, C.Element, D.Element, E.Element), Failure>.combineLatest(
            a.observable, b.observable, c.observable, d.observable, e.observable
        )
        .map { combine($0.0, $0.1, $0.2, $0.3, $0.4) }
    }
}

extension Observable {
    /// The latest values of a stream that cannot fail and of one that can, as a tuple.
    @inlinable
    @_disfavoredOverload
    public static func combineLatest<A: ObservableConvertible, B>(
        _ a: A, _ b: Observable<B, Failure>
    ) -> Observable where Element == (A.Element, B), A.Failure == Never {
        combineLatest(a.observable.setFailureType(to: Failure.self), b)
    }

    /// The latest values of a stream that can fail and of one that cannot, as a tuple.
    @inlinable
    @_disfavoredOverload
    public static func combineLatest<A, B: ObservableConvertible>(
        _ a: Observable<A, Failure>, _ b: B
    ) -> Observable where Element == (A, B.Element), B.Failure == Never {
        combineLatest(a, b.observable.setFailureType(to: Failure.self))
    }

    /// The results of `combine` for the latest values of a stream that cannot fail and of one that can.
    @inlinable
    @_disfavoredOverload
    public static func combineLatest<A: ObservableConvertible, B>(
        _ a: A, _ b: Observable<B, Failure>, _ combine: @escaping @Sendable (A.Element, B) -> Element
    ) -> Observable where A.Failure == Never {
        combineLatest(a.observable.setFailureType(to: Failure.self), b, combine)
    }

    /// The results of `combine` for the latest values of a stream that can fail and of one that cannot.
    @inlinable
    @_disfavoredOverload
    public static func combineLatest<A, B: ObservableConvertible>(
        _ a: Observable<A, Failure>, _ b: B, _ combine: @escaping @Sendable (A, B.Element) -> Element
    ) -> Observable where B.Failure == Never {
        combineLatest(a, b.observable.setFailureType(to: Failure.self), combine)
    }
}

extension Observable where Failure == Never {
    /// The latest values of two signals or properties, as a tuple.
    @inlinable
    public static func combineLatest<A: HotObservable, B: HotObservable>(
        _ a: A, _ b: B
    ) -> Observable where Element == (A.Element, B.Element) {
        combineLatest(a.observable, b.observable)
    }
}

// MARK: - State

/// The state of one combineLatest.
@usableFromInline
final class LatestCombining<Failure: Error>: Combination<Failure>, @unchecked Sendable {
    // Unchecked, like its superclass.
    @usableFromInline var runningCount = 0

    /// Adds an input.
    @inlinable
    func input<Element>(_ stream: Observable<Element, Failure>) -> LatestInput<Element, Failure> {
        let input = LatestInput<Element, Failure>(of: self)
        starts.append { input.start(stream) }
        return input
    }
}

/// One input of a combineLatest.
@usableFromInline
final class LatestInput<Element: Sendable, Failure: Error>: @unchecked Sendable {
    // Unchecked: runs only inside the subscription's lane, which is serial.
    @usableFromInline let combining: LatestCombining<Failure>
    @usableFromInline let scope: Scope
    @usableFromInline var value: Element?

    @inlinable
    init(of combining: LatestCombining<Failure>) {
        self.combining = combining
        scope = combining.scope.child()
        combining.missingCount += 1
        combining.runningCount += 1
        combining.scope.onClose { self.value = nil }
    }

    @inlinable
    func start(_ stream: Observable<Element, Failure>) {
        guard scope.isOpen else { return }
        stream.subscribe(
            Observer(scope: scope, next: { self.receive($0) }, end: { self.receiveEnd($0) }))
    }

    /// Only once every input has a value.
    @inlinable var latest: Element { value! }

    @inlinable
    func receive(_ value: Element) {
        if self.value == nil { combining.missingCount -= 1 }
        self.value = value
        if combining.missingCount == 0 { combining.emit() }
    }

    @inlinable
    func receiveEnd(_ completion: Completion<Failure>) {
        if case .failed = completion { return combining.finish(completion) }
        scope.close()
        combining.runningCount -= 1
        if combining.runningCount == 0 { combining.finish(.finished) }
    }
}

/// The common part of running combinations of several streams. It counts its inputs, which have different
/// types.
@usableFromInline
class Combination<Failure: Error>: @unchecked Sendable {
    // Unchecked: runs only inside the subscription's lane, which is serial.

    /// Emits the combined values of the inputs.
    @usableFromInline final var emit: () -> Void = {}
    @usableFromInline final let scope: Scope
    /// The number of inputs without a value to emit.
    @usableFromInline final var missingCount = 0
    @usableFromInline final var starts: [() -> Void] = []
    @usableFromInline final let end: @Sendable (Completion<Failure>) -> Void

    @inlinable
    required init<Output>(into observer: Observer<Output, Failure>) {
        end = observer.end
        scope = observer.scope.child()
        scope.onClose {
            self.emit = {}
            self.starts = []
        }
    }

    /// Starts the inputs, one after another, with `emit` for their combined values.
    @inlinable
    final func start(_ emit: @escaping () -> Void) {
        self.emit = emit
        let starts = starts
        self.starts = []
        for start in starts { start() }
    }

    @inlinable
    final func finish(_ completion: Completion<Failure>) {
        scope.close()
        end(completion)
    }
}

extension Observable {
    /// A combination: `connect` makes its inputs, and returns the closure that emits their values.
    @inlinable
    static func combination<Core: Combination<Failure>>(
        on scheduler: (any Scheduler)?,
        _ connect: @escaping @Sendable (Core, Observer<Element, Failure>) -> () -> Void
    ) -> Observable {
        Observable(scheduler: scheduler) { observer in
            guard observer.scope.isOpen else { return }
            let core = Core(into: observer)
            core.start(connect(core, observer))
        }
    }
}
