extension Observable {
    /// Sends each value and starts a stream for it, whose values are treated the same. Ends when the source
    /// and all of these streams have ended, or with the first error of any.
    ///
    /// ```
    ///            -1-----|
    /// of 1       --2|
    /// of 2       --3|
    /// expand
    ///            -1-2-3-|
    /// ```
    ///
    /// ```swift
    /// client.page(1).expand { page in page.next.map { client.page($0) } ?? .empty() }
    /// ```
    ///
    /// Values of streams that send at once come depth first, as far as calls nest; streams nested deeper are
    /// started in a loop, so a million of them need no more stack than one. While the subscriber is paused no
    /// value starts a stream.
    ///
    /// - Parameters:
    ///   - limit: the most streams running side by side; less than one counts as one. Further values are sent
    ///     and started in order of arrival when others have ended; when 16 wait, the source is paused.
    ///     Default: no limit.
    ///   - transform: makes the stream of a value; called after the value was sent. A thrown error ends the
    ///     stream.
    @inlinable
    public func expand(
        limit: Int = .max, _ transform: @escaping @Sendable (Element) throws(Failure) -> Observable
    ) -> Observable {
        lift { observer in Expansion(limit: limit, into: observer, transform).input }
    }
}

/// One running expand: sends values, and starts, counts and ends their streams.
@usableFromInline
final class Expansion<Element: Sendable, Failure: Error>: @unchecked Sendable {
    // Unchecked: runs only inside the subscription's lane, which is serial.

    /// The number of waiting values at which the source is paused, as the documentation of `expand` says.
    private static var highWater: Int { 16 }

    private let limit: Int
    private let observer: Observer<Element, Failure>
    private let transform: @Sendable (Element) throws(Failure) -> Observable<Element, Failure>
    /// The scope of the whole operator; closed on the first error.
    private let scope: Scope
    /// The scope of the streams. It precedes the source's, so that after a pause the running streams continue
    /// first.
    private let streamScope: Scope
    private let sourceScope: Scope
    private var waiting = FIFO<Element>()
    private var running = 0
    private var isSourceDone = false
    private var isSourcePaused = false
    private var isStarting = false

    @usableFromInline
    init(
        limit: Int, into observer: Observer<Element, Failure>,
        _ transform: @escaping @Sendable (Element) throws(Failure) -> Observable<Element, Failure>
    ) {
        self.limit = max(limit, 1)
        self.observer = observer
        self.transform = transform
        scope = observer.scope.child()
        streamScope = scope.child()
        sourceScope = scope.child()
    }

    @usableFromInline
    var input: Observer<Element, Failure> {
        scope.onResume { self.proceed() }
        return Observer(
            scope: sourceScope, next: { self.receive($0) }, end: { self.receiveSourceEnd($0) })
    }

    private func receive(_ value: Element) {
        if running < limit && waiting.isEmpty && !scope.isPaused { return start(value) }
        waiting.append(value)
        if !isSourcePaused && !isSourceDone && waiting.count >= Self.highWater {
            isSourcePaused = true
            sourceScope.pause()
        }
    }

    private func start(_ value: Element) {
        // Counted before it is sent, because events sent from within must find it running.
        running += 1
        observer.next(value)
        guard scope.isOpen else { return }
        let stream: Observable<Element, Failure>
        do throws(Failure) { stream = try transform(value) } catch { return end(.failed(error)) }
        guard scope.isOpen else { return }
        let ownScope = streamScope.child()
        stream.subscribeNested(
            Observer(scope: ownScope, next: { self.receive($0) }) { completion in
                ownScope.close()
                self.receiveEnd(completion)
            })
    }

    private func receiveEnd(_ completion: Completion<Failure>) {
        if case .failed = completion { return end(completion) }
        running -= 1
        proceed()
    }

    private func receiveSourceEnd(_ completion: Completion<Failure>) {
        if case .failed = completion { return end(completion) }
        sourceScope.close()
        isSourceDone = true
        endIfDone()
    }

    /// Starts the waiting values in a loop, not from within each other's end.
    private func proceed() {
        guard !isStarting else { return }
        isStarting = true
        var budget = StepBudget(in: scope.lane)
        while running < limit, scope.isOpen, !scope.isPaused, !waiting.isEmpty {
            guard budget.step() else { return proceedInNextTurn() }
            if let value = waiting.popFirst() { start(value) }
        }
        isStarting = false
        if isSourcePaused && waiting.isEmpty && scope.isOpen {
            isSourcePaused = false
            sourceScope.resume()
        }
        endIfDone()
    }

    private func proceedInNextTurn() {
        scope.inNextTurn {
            self.isStarting = false
            self.proceed()
        }
    }

    private func endIfDone() {
        if isSourceDone && running == 0 && waiting.isEmpty && !isStarting && scope.isOpen { end(.finished) }
    }

    private func end(_ completion: Completion<Failure>) {
        scope.close()
        waiting.removeAll()
        observer.end(completion)
    }
}
