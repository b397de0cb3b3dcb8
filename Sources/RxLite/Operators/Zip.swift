extension Observable {
    /// The first values of two streams together, then their second ones, and so on, as tuples. Ends as soon
    /// as no further tuple can come: what other streams have sent ahead is dropped.
    ///
    /// ```
    ///      --1-----2--3--|
    ///      ----a-b---------c--|
    /// zip
    ///      ----1a--2b------(3c|)
    /// ```
    ///
    /// A stream that is 16 values ahead is paused until they have been taken. The first error ends all. The
    /// streams fail with one type; `setFailureType()` fits in those that cannot fail.
    @inlinable
    public static func zip<A, B>(
        _ a: Observable<A, Failure>, _ b: Observable<B, Failure>
    ) -> Observable where Element == (A, B) {
        zipAll(a, b)
    }

    /// The same for three streams.
    @inlinable
    public static func zip<A, B, C>(
        _ a: Observable<A, Failure>, _ b: Observable<B, Failure>, _ c: Observable<C, Failure>
    ) -> Observable where Element == (A, B, C) {
        zipAll(a, b, c)
    }

    /// The same for four streams.
    @inlinable
    public static func zip<A, B, C, D>(
        _ a: Observable<A, Failure>, _ b: Observable<B, Failure>, _ c: Observable<C, Failure>,
        _ d: Observable<D, Failure>
    ) -> Observable where Element == (A, B, C, D) {
        zipAll(a, b, c, d)
    }

    /// The same for five streams.
    @inlinable
    public static func zip<A, B, C, D, E>(
        _ a: Observable<A, Failure>, _ b: Observable<B, Failure>, _ c: Observable<C, Failure>,
        _ d: Observable<D, Failure>, _ e: Observable<E, Failure>
    ) -> Observable where Element == (A, B, C, D, E) {
        zipAll(a, b, c, d, e)
    }

    /// Every public form leads here. It is not public itself: the compiler does not infer the error type of
    /// what is chained to a call with a parameter pack.
    @inlinable
    static func zipAll<each Input: Sendable>(
        _ streams: repeat Observable<each Input, Failure>
    ) -> Observable where Element == (repeat each Input) {
        Observable(scheduler: commonScheduler(of: repeat each streams)) { observer in
            guard observer.scope.isOpen else { return }
            let zipping = Zipping(into: observer)
            let inputs = (repeat ZipInput(of: zipping, each streams))
            zipping.emit = { observer.next((repeat (each inputs).take())) }
            repeat (each inputs).start()
        }
    }

    /// The first values of all `streams` together, then their second ones, and so on, as arrays. Ends as soon
    /// as no further array can come; at once if there are no streams.
    @inlinable
    public static func zip<Input>(_ streams: [Observable<Input, Failure>]) -> Observable
    where Element == [Input] {
        guard !streams.isEmpty else { return .empty() }
        return Observable(scheduler: Observable<Input, Failure>.commonScheduler(of: streams)) { observer in
            guard observer.scope.isOpen else { return }
            let zipping = Zipping(into: observer)
            let inputs = streams.map { ZipInput(of: zipping, $0) }
            zipping.emit = { observer.next(inputs.map { $0.take() }) }
            for input in inputs { input.start() }
        }
    }
}

/// One running zip. It counts its inputs, which have types of their own.
@usableFromInline
final class Zipping<Failure: Error>: @unchecked Sendable {
    // Unchecked: runs only inside the subscription's lane, which is serial.

    /// Takes a value of each input and hands them on.
    @usableFromInline var emit: () -> Void = {}
    fileprivate let scope: Scope
    /// How many inputs have no value waiting.
    fileprivate var emptyCount = 0
    /// Whether an input has ended and all its values are taken.
    fileprivate var isExhausted = false
    /// Paused inputs with no value left.
    fileprivate var drained: [Scope] = []
    private let end: @Sendable (Completion<Failure>) -> Void

    @usableFromInline
    init<Output>(into observer: Observer<Output, Failure>) {
        end = observer.end
        scope = observer.scope.child()
        scope.onClose { self.emit = {} }
    }

    fileprivate func emitIfComplete() {
        guard emptyCount == 0 else { return }
        emit()
        guard scope.isOpen else { return }
        if isExhausted { return finish(.finished) }
        guard !drained.isEmpty else { return }
        let resuming = drained
        drained = []
        for input in resuming { input.resume() }
    }

    fileprivate func finish(_ completion: Completion<Failure>) {
        scope.close()
        end(completion)
    }
}

/// One input of a zip, with the values it is ahead.
@usableFromInline
final class ZipInput<Element: Sendable, Failure: Error>: @unchecked Sendable {
    // Unchecked: runs only inside the subscription's lane, which is serial.

    /// How many values an input may be ahead before it is paused.
    private static var highWater: Int { 16 }

    private let zipping: Zipping<Failure>
    private let stream: Observable<Element, Failure>
    private let scope: Scope
    private var values = FIFO<Element>()
    private var hasEnded = false
    private var isPaused = false

    @usableFromInline
    init(of zipping: Zipping<Failure>, _ stream: Observable<Element, Failure>) {
        self.zipping = zipping
        self.stream = stream
        scope = zipping.scope.child()
        zipping.emptyCount += 1
        zipping.scope.onClose { self.values.removeAll() }
    }

    @usableFromInline
    func start() {
        guard scope.isOpen else { return }
        stream.subscribe(
            Observer(scope: scope, next: { self.receive($0) }, end: { self.receiveEnd($0) }))
    }

    /// Only while all inputs have a value.
    @usableFromInline
    func take() -> Element {
        let value = values.popFirst()!
        guard values.isEmpty else { return value }
        zipping.emptyCount += 1
        if hasEnded {
            zipping.isExhausted = true
        } else if isPaused {
            isPaused = false
            zipping.drained.append(scope)
        }
        return value
    }

    private func receive(_ value: Element) {
        values.append(value)
        if values.count == 1 {
            zipping.emptyCount -= 1
            zipping.emitIfComplete()
        } else if !isPaused && values.count >= Self.highWater {
            isPaused = true
            scope.pause()
        }
    }

    private func receiveEnd(_ completion: Completion<Failure>) {
        if case .failed = completion { return zipping.finish(completion) }
        scope.close()
        hasEnded = true
        if values.isEmpty { zipping.finish(.finished) }
    }
}
