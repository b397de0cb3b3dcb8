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

    /// The number of values ahead at which an input is paused.
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
