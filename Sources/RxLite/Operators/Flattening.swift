/// One running flatMap: starts, counts and ends inner streams.
///
/// Inner streams that end at once are taken from a loop, not from within each other's end, so a million of
/// them need no more stack than one.
@usableFromInline
final class Flattening<Element: Sendable, T: Sendable, Failure: Error>: @unchecked Sendable {
    // Unchecked: runs only inside the subscription's lane, which is serial.

    /// How many values may wait before the source is paused.
    private static var highWater: Int { 16 }

    private let strategy: FlattenStrategy
    /// Let go of when the scope closes: a deep recursion must not be released level from within level.
    private var observer: Observer<T, Failure>?
    private let transform: @Sendable (Element) throws(Failure) -> Observable<T, Failure>
    /// Everything of this operator; closed on the first error.
    private let scope: Scope
    private let outerScope: Scope
    private var latest: Scope?
    private var waiting = FIFO<Element>()
    private var running = 0
    private var isOuterDone = false
    private var isOuterPaused = false
    private var isStarting = false

    @usableFromInline
    init(
        _ strategy: FlattenStrategy, into observer: Observer<T, Failure>,
        _ transform: @escaping @Sendable (Element) throws(Failure) -> Observable<T, Failure>
    ) {
        self.strategy =
            if case .merge(let limit) = strategy { .merge(limit: max(limit, 1)) } else { strategy }
        self.observer = observer
        self.transform = transform
        scope = observer.scope.child()
        outerScope = scope.child()
    }

    @usableFromInline
    var outer: Observer<Element, Failure> {
        scope.onClose { self.observer = nil }
        return Observer(scope: outerScope, next: { self.receive($0) }, end: { self.receiveOuterEnd($0) })
    }

    private func receive(_ value: Element) {
        switch strategy {
        case .merge(let limit):
            if running < limit && waiting.isEmpty { return start(value) }
            waiting.append(value)
            if !isOuterPaused && waiting.count >= Self.highWater {
                isOuterPaused = true
                outerScope.pause()
            }
        case .latest:
            if let latest {
                latest.close()
                running -= 1
                self.latest = nil
            }
            start(value)
        case .first:
            if running == 0 { start(value) }
        }
    }

    private func start(_ value: Element) {
        let inner: Observable<T, Failure>
        do throws(Failure) { inner = try transform(value) } catch { return end(.failed(error)) }
        guard scope.isOpen, let observer else { return }
        let innerScope = scope.child()
        running += 1
        if strategy == .latest { latest = innerScope }
        inner.subscribeNested(
            Observer(scope: innerScope, next: observer.next) { completion in
                innerScope.close()
                self.receiveInnerEnd(completion)
            })
    }

    private func receiveInnerEnd(_ completion: Completion<Failure>) {
        if case .failed = completion { return end(completion) }
        running -= 1
        latest = nil
        startWaiting()
        endIfDone()
    }

    private func startWaiting() {
        guard case .merge(let limit) = strategy, !isStarting else { return }
        isStarting = true
        while running < limit, scope.isOpen, let value = waiting.popFirst() { start(value) }
        isStarting = false
        if isOuterPaused && waiting.isEmpty && scope.isOpen {
            isOuterPaused = false
            outerScope.resume()
        }
    }

    private func receiveOuterEnd(_ completion: Completion<Failure>) {
        if case .failed = completion { return end(completion) }
        outerScope.close()
        isOuterDone = true
        endIfDone()
    }

    private func endIfDone() {
        if isOuterDone && running == 0 && waiting.isEmpty && !isStarting && scope.isOpen { end(.finished) }
    }

    private func end(_ completion: Completion<Failure>) {
        let observer = observer
        scope.close()
        waiting.removeAll()
        observer?.endNested(completion)
    }
}
