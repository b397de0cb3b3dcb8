extension Observable {
    /// The first values of two streams together, then their second ones, and so on, as tuples. Ends as soon
    /// as no further tuple is possible; values that the other streams have sent ahead are dropped.
    ///
    /// ```
    ///      --1-----2--3--|
    ///      ----a-b---------c--|
    /// zip
    ///      ----1a--2b------(3c|)
    /// ```
    ///
    /// A stream that is 16 values ahead is paused until the others have caught up. The first error ends the stream. The
    /// streams have the same error type; one of two may also be unable to fail.
    @inlinable
    public static func zip<A, B>(
        _ a: Observable<A, Failure>, _ b: Observable<B, Failure>
    ) -> Observable where Element == (A, B) {
        combination(on: a.scheduler ?? b.scheduler) { (zip: Zipping<Failure>, observer) in
            let (a, b) = (zip.input(a), zip.input(b))
            return { observer.next((a.take(), b.take())) }
        }
    }

    /// The first values of three streams together, then their second ones, and so on, as tuples. Ends as soon as no
    /// further tuple is possible.
    @inlinable
    public static func zip<A, B, C>(
        _ a: Observable<A, Failure>, _ b: Observable<B, Failure>, _ c: Observable<C, Failure>
    ) -> Observable where Element == (A, B, C) {
        combination(on: a.scheduler ?? b.scheduler ?? c.scheduler) { (zip: Zipping<Failure>, observer) in
            let (a, b, c) = (zip.input(a), zip.input(b), zip.input(c))
            return { observer.next((a.take(), b.take(), c.take())) }
        }
    }

    /// The first values of four streams together, then their second ones, and so on, as tuples. Ends as soon as no
    /// further tuple is possible.
    @inlinable
    public static func zip<A, B, C, D>(
        _ a: Observable<A, Failure>, _ b: Observable<B, Failure>, _ c: Observable<C, Failure>,
        _ d: Observable<D, Failure>
    ) -> Observable where Element == (A, B, C, D) {
        combination(on: a.scheduler ?? b.scheduler ?? c.scheduler ?? d.scheduler) {
            (zip: Zipping<Failure>, observer) in
            let (a, b, c, d) = (zip.input(a), zip.input(b), zip.input(c), zip.input(d))
            return { observer.next((a.take(), b.take(), c.take(), d.take())) }
        }
    }

    /// The first values of five streams together, then their second ones, and so on, as tuples. Ends as soon as no
    /// further tuple is possible.
    @inlinable
    public static func zip<A, B, C, D, E>(
        _ a: Observable<A, Failure>, _ b: Observable<B, Failure>, _ c: Observable<C, Failure>,
        _ d: Observable<D, Failure>, _ e: Observable<E, Failure>
    ) -> Observable where Element == (A, B, C, D, E) {
        combination(on: a.scheduler ?? b.scheduler ?? c.scheduler ?? d.scheduler ?? e.scheduler) {
            (zip: Zipping<Failure>, observer) in
            let (a, b, c, d, e) = (zip.input(a), zip.input(b), zip.input(c), zip.input(d), zip.input(e))
            return { observer.next((a.take(), b.take(), c.take(), d.take(), e.take())) }
        }
    }

    /// The first values of all `streams` together, then their second ones, and so on, as arrays. Ends as soon
    /// as no further array is possible; at once if there are no streams.
    @inlinable
    public static func zip<Input>(_ streams: [Observable<Input, Failure>]) -> Observable
    where Element == [Input] {
        guard !streams.isEmpty else { return .empty() }
        return combination(on: Observable<Input, Failure>.commonScheduler(of: streams)) {
            (zip: Zipping<Failure>, observer) in
            let inputs = streams.map { zip.input($0) }
            return { observer.next(inputs.map { $0.take() }) }
        }
    }
}

extension Observable {
    /// The values of a stream that cannot fail, each paired with a value of a stream that can, as tuples.
    @inlinable
    @_disfavoredOverload
    public static func zip<A: ObservableConvertible, B>(
        _ a: A, _ b: Observable<B, Failure>
    ) -> Observable where Element == (A.Element, B), A.Failure == Never {
        zip(a.observable.setFailureType(to: Failure.self), b)
    }

    /// The values of a stream that can fail, each paired with a value of a stream that cannot, as tuples.
    @inlinable
    @_disfavoredOverload
    public static func zip<A, B: ObservableConvertible>(
        _ a: Observable<A, Failure>, _ b: B
    ) -> Observable where Element == (A, B.Element), B.Failure == Never {
        zip(a, b.observable.setFailureType(to: Failure.self))
    }
}

extension Observable where Failure == Never {
    /// The values of two signals or properties, in pairs.
    @inlinable
    public static func zip<A: HotObservable, B: HotObservable>(
        _ a: A, _ b: B
    ) -> Observable where Element == (A.Element, B.Element) {
        zip(a.observable, b.observable)
    }
}

/// The state of one zip.
@usableFromInline
final class Zipping<Failure: Error>: Combination<Failure>, @unchecked Sendable {
    // Unchecked, like its superclass.

    /// Whether an input has ended and all its values have been taken.
    @usableFromInline var isExhausted = false
    /// Paused inputs without values.
    @usableFromInline var drained: [Scope] = []

    /// Adds an input.
    @inlinable
    func input<Element>(_ stream: Observable<Element, Failure>) -> ZipInput<Element, Failure> {
        let input = ZipInput<Element, Failure>(of: self)
        starts.append { input.start(stream) }
        return input
    }

    @inlinable
    func emitIfComplete() {
        guard missingCount == 0 else { return }
        emit()
        guard scope.isOpen else { return }
        if isExhausted { return finish(.finished) }
        guard !drained.isEmpty else { return }
        let resuming = drained
        drained = []
        for input in resuming { input.resume() }
    }
}

/// One input of a zip, with the values it is ahead.
@usableFromInline
final class ZipInput<Element: Sendable, Failure: Error>: @unchecked Sendable {
    // Unchecked: runs only inside the subscription's lane, which is serial.

    /// The number of values ahead at which an input is paused, as the documentation of `zip` says.
    @inlinable static var highWater: Int { 16 }

    @usableFromInline let zipping: Zipping<Failure>
    @usableFromInline let scope: Scope
    @usableFromInline var values = FIFO<Element>()
    @usableFromInline var hasEnded = false
    @usableFromInline var isPaused = false

    @inlinable
    init(of zipping: Zipping<Failure>) {
        self.zipping = zipping
        scope = zipping.scope.child()
        zipping.missingCount += 1
        zipping.scope.onClose { self.values.removeAll() }
    }

    @inlinable
    func start(_ stream: Observable<Element, Failure>) {
        guard scope.isOpen else { return }
        stream.subscribe(
            Observer(scope: scope, next: { self.receive($0) }, end: { self.receiveEnd($0) }))
    }

    /// Only while every input has a value.
    @inlinable
    func take() -> Element {
        let value = values.popFirst()!
        guard values.isEmpty else { return value }
        zipping.missingCount += 1
        if hasEnded {
            zipping.isExhausted = true
        } else if isPaused {
            isPaused = false
            zipping.drained.append(scope)
        }
        return value
    }

    @inlinable
    func receive(_ value: Element) {
        values.append(value)
        if values.count == 1 {
            zipping.missingCount -= 1
            zipping.emitIfComplete()
        } else if !isPaused && values.count >= Self.highWater {
            isPaused = true
            scope.pause()
        }
    }

    @inlinable
    func receiveEnd(_ completion: Completion<Failure>) {
        if case .failed = completion { return zipping.finish(completion) }
        scope.close()
        hasEnded = true
        if values.isEmpty { zipping.finish(.finished) }
    }
}
