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
