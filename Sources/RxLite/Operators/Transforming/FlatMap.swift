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

    /// Each value starts a stream. An error that `transform` throws ends the resulting stream.
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

/// One running flatMap: starts, counts and ends inner streams.
///
/// Inner streams that end at once are started from a loop, not from within each other's end, so a million of
/// them need no more stack than one.
@usableFromInline
final class Flattening<Element: Sendable, T: Sendable, Failure: Error>: @unchecked Sendable {
    // Unchecked, without exclusivity checks: runs only inside the subscription's lane, which is serial, and
    // makes no call while a variable is being changed.

    /// The number of waiting values at which the source is paused, as Contracts.md says.
    @inlinable static var highWater: Int { 16 }

    @usableFromInline let strategy: FlattenStrategy
    /// The most inner streams that run at once.
    @usableFromInline let limit: Int
    /// Released when the scope closes, because a deep recursion must not be released level by level.
    @safe @exclusivity(unchecked) @usableFromInline var observer: Observer<T, Failure>?
    /// The receiver of the observer, passed on to inner streams, because a deep recursion must not pass
    /// values on level by level either.
    @safe @exclusivity(unchecked) @usableFromInline
    var receiveInner: (@Sendable (T, any AnyObject & Sendable) -> Void)?
    @safe @exclusivity(unchecked) @usableFromInline var target: (any AnyObject & Sendable)?
    @usableFromInline
    let transform: @Sendable (Element) throws(Failure) -> Observable<T, Failure>
    /// The scope of the whole operator; closed on the first error.
    @usableFromInline let scope: Scope
    /// The scope of the inner streams. It precedes the outer one's, so that after a pause a running inner
    /// stream continues before the outer stream sends a value that would replace it, or be dropped because of
    /// it.
    @usableFromInline let innerScope: Scope
    @usableFromInline let outerScope: Scope
    @safe @exclusivity(unchecked) @usableFromInline var latest: Scope?
    /// The teardowns in other lanes of the inner stream that ended or was replaced last, with `latest`.
    @safe @exclusivity(unchecked) @usableFromInline var pendingTeardown: PendingTeardown?
    /// The scopes of inner streams that have ended, for reuse by others once nobody else holds them. One of two is free
    /// when a stream starts at the end of another, whose scope its source still holds.
    @safe @exclusivity(unchecked) @usableFromInline var spare: Scope?
    @safe @exclusivity(unchecked) @usableFromInline var otherSpare: Scope?
    @safe @exclusivity(unchecked) @usableFromInline var waiting = FIFO<Element>()
    /// The marbles of the waiting values, added and taken together with these; `nil` if no inspector was
    /// attached at the start.
    @safe @exclusivity(unchecked) @usableFromInline var causes: FIFO<StreamCause?>?
    @safe @exclusivity(unchecked) @usableFromInline var running = 0
    @safe @exclusivity(unchecked) @usableFromInline var isOuterDone = false
    @safe @exclusivity(unchecked) @usableFromInline var isOuterPaused = false
    @safe @exclusivity(unchecked) @usableFromInline var isStarting = false
    /// Created for the first value that waits because the subscriber is paused. It follows the inner streams'
    /// scope, so that these continue before others begin.
    @safe @exclusivity(unchecked) @usableFromInline var startScope: Scope?

    @inlinable
    init(
        _ strategy: FlattenStrategy, into observer: Observer<T, Failure>,
        _ transform: @escaping @Sendable (Element) throws(Failure) -> Observable<T, Failure>
    ) {
        self.strategy = strategy
        limit = if case .merge(let limit) = strategy { max(limit, 1) } else { 1 }
        self.observer = observer
        receiveInner = observer.receive
        target = observer.target
        self.transform = transform
        scope = observer.scope.child()
        innerScope = scope.child()
        outerScope = scope.child()
        causes = Self.isInspected ? FIFO() : nil
    }

    /// Whether inner streams have separate tracks.
    @usableFromInline static var isInspected: Bool { StreamLog.isAttached }

    @inlinable var outer: Observer<Element, Failure> {
        scope.onClose {
            if let pendingTeardown = self.pendingTeardown { self.scope.pass(pendingTeardown) }
            self.pendingTeardown = nil
            self.observer = nil
            self.receiveInner = nil
            self.target = nil
            self.spare = nil
            self.otherSpare = nil
            self.startScope = nil
        }
        return Observer(scope: outerScope, next: { self.receive($0) }, end: { self.receiveOuterEnd($0) })
    }

    @inlinable
    func receive(_ value: Element) {
        switch strategy {
        case .merge:
            let mustWait = limit != .max && scope.isPaused
            if running < limit && waiting.isEmpty && !mustWait { return start(value) }
            waiting.append(value)
            causes?.append(StreamCause.ifAttached)
            if mustWait { startWaitingLater() }
            if !isOuterPaused && waiting.count >= Self.highWater {
                isOuterPaused = true
                outerScope.pause()
            }
        case .latest:
            if let latest {
                running -= 1
                self.latest = nil
                close(latest)
            }
            guard pendingTeardown != nil else { return start(value) }
            waiting.removeAll()
            waiting.append(value)
            causes?.removeAll()
            causes?.append(StreamCause.ifAttached)
        case .first:
            if running == 0 { start(value) }
        }
    }

    @inlinable
    func start(_ value: Element) {
        let inner: Observable<T, Failure>
        do throws(Failure) { inner = try transform(value) } catch { return end(.failed(error)) }
        guard scope.isOpen else { return }
        let innerScope = takeScope()
        running += 1
        if case .latest = strategy { latest = innerScope }
        subscribe(to: causes == nil ? inner : inner.inspectedAsInner(), in: innerScope)
    }

    @inlinable
    func takeScope() -> Scope {
        guard let spare = Self.take(&spare) ?? Self.take(&otherSpare) else {
            return innerScope.child(of: self)
        }
        innerScope.adopt(spare)
        return spare
    }

    /// Takes a scope that nobody else holds.
    @inlinable
    static func take(_ spare: inout Scope?) -> Scope? {
        isKnownUniquelyReferenced(&spare) ? spare.take() : nil
    }

    /// Keeps the scope of an inner stream that has ended.
    @inlinable
    func keep(_ ended: Scope) {
        guard ended.isDone, scope.isOpen else { return }
        if spare == nil { spare = ended } else { otherSpare = ended }
    }

    @inlinable
    func subscribe(to inner: Observable<T, Failure>, in innerScope: Scope) {
        guard let receiveInner, let target else { return }
        inner.subscribeNested(
            Observer(
                scope: innerScope, target: target, receive: receiveInner,
                end: { completion in
                    // Guard: the owner given above.
                    let flattening = unsafe unsafeDowncast(innerScope.owner!, to: Flattening.self)
                    flattening.close(innerScope)
                    flattening.keep(innerScope)
                    flattening.receiveInnerEnd(completion)
                }))
    }

    /// Closes the scope of an inner stream. With `latest`, no other starts until that is torn down in all lanes.
    @inlinable
    func close(_ innerScope: Scope) {
        guard case .latest = strategy else { return innerScope.close() }
        pendingTeardown = innerScope.closeBeforeSuccessor()
        guard let pendingTeardown else { return }
        pendingTeardown.whenOver { self.scope.enter { self.startLatest() } }
        pendingTeardown.followUp(in: scope.lane)
    }

    /// Starts the last value that came while the inner stream before it was being torn down.
    @usableFromInline
    func startLatest() {
        pendingTeardown = nil
        if let value = waiting.popFirst() {
            if let cause = causes?.popFirst(), let cause {
                StreamCause.restore(cause) { start(value) }
            } else {
                start(value)
            }
        }
        endIfDone()
    }

    @inlinable
    func receiveInnerEnd(_ completion: Completion<Failure>) {
        if case .failed = completion { return end(completion) }
        running -= 1
        if latest != nil { latest = nil }
        if !waiting.isEmpty || isOuterPaused { startWaiting() }
        endIfDone()
    }

    @inlinable
    func startWaiting() {
        guard case .merge = strategy, !isStarting else { return }
        guard !scope.isPaused else { return startWaitingLater() }
        isStarting = true
        var budget = StepBudget(in: scope.lane)
        while running < limit, scope.isOpen, !scope.isPaused, !waiting.isEmpty {
            // `isStarting` stays set, so that no other stream begins before the next turn.
            guard budget.step() else { return startInNextTurn() }
            guard let value = waiting.popFirst() else { continue }
            if let cause = causes?.popFirst(), let cause {
                StreamCause.restore(cause) { start(value) }
            } else {
                start(value)
            }
        }
        isStarting = false
        if scope.isPaused && !waiting.isEmpty { startWaitingLater() }
        if isOuterPaused && waiting.isEmpty && scope.isOpen {
            isOuterPaused = false
            outerScope.resume()
        }
    }

    /// While the subscriber is paused, no waiting value starts a stream.
    @usableFromInline
    func startWaitingLater() {
        guard startScope == nil else { return }
        let startScope = scope.child()
        self.startScope = startScope
        startScope.onResume {
            self.startWaiting()
            self.endIfDone()
        }
    }

    @usableFromInline
    func startInNextTurn() {
        scope.inNextTurn {
            self.isStarting = false
            self.startWaiting()
            self.endIfDone()
        }
    }

    @inlinable
    func receiveOuterEnd(_ completion: Completion<Failure>) {
        if case .failed = completion { return end(completion) }
        outerScope.close()
        isOuterDone = true
        endIfDone()
    }

    @inlinable
    func endIfDone() {
        if isOuterDone && running == 0 && waiting.isEmpty && !isStarting && scope.isOpen { end(.finished) }
    }

    @inlinable
    func end(_ completion: Completion<Failure>) {
        let observer = observer
        scope.close()
        waiting.removeAll()
        observer?.endNested(completion)
    }
}
