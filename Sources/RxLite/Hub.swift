/// Hands each event to all who listen, in one order for all of them: the core of ``Signal``, ``State`` and
/// ``Observable/share(replay:reset:)``.
@usableFromInline
final class Hub<Element: Sendable, Failure: Error>: @unchecked Sendable {
    // Unchecked: the variables below are touched only from inside `lane`, which is serial.

    /// Events, arrivals and departures go through it one at a time; an event sent from within a delivery
    /// waits until that delivery is complete.
    @usableFromInline let lane = Lane()
    private var listeners: [(scope: Scope, observer: Observer<Element, Failure>)] = []
    private var replay: FIFO<Element>
    private var replayCount: Int
    private var completion: Completion<Failure>?

    @usableFromInline
    init(replaying count: Int = 0, initial: [Element] = []) {
        replayCount = count
        replay = FIFO(initial)
    }

    /// Sends a value to all. From any thread.
    @usableFromInline
    func send(_ value: Element) {
        if lane.tryEnter() {
            deliver(value)
            lane.leave()
        } else {
            lane.enqueue { self.deliver(value) }
        }
    }

    /// Ends the stream for all. From any thread.
    @usableFromInline
    func end(_ completion: Completion<Failure>) {
        lane.enter { self.deliverEnd(completion) }
    }

    /// Adds a listener, which first gets what is replayed. Only from inside the listener's lane.
    ///
    /// Removing it goes through the same queue, so it cannot come before adding it.
    @usableFromInline
    func add(_ observer: Observer<Element, Failure>) {
        let scope = observer.scope
        scope.onClose { self.lane.enter { self.listeners.removeAll { $0.scope === scope } } }
        lane.enter {
            self.replay.forEach { value in scope.enter { observer.next(value) } }
            if let completion = self.completion {
                scope.enter { observer.end(completion) }
            } else if scope.isOpen {
                self.listeners.append((scope, observer))
            }
        }
    }

    /// Hands a value to all. Only from inside ``lane``.
    func deliver(_ value: Element) {
        guard completion == nil else { return }
        if replayCount > 0 {
            if replay.count == replayCount { _ = replay.popFirst() }
            replay.append(value)
        }
        for (scope, observer) in listeners {
            if scope.lane.tryEnter() {
                if scope.isOpen { observer.next(value) }
                scope.lane.leave()
            } else {
                scope.lane.enqueue { if scope.isOpen { observer.next(value) } }
            }
        }
    }

    private func deliverEnd(_ completion: Completion<Failure>) {
        guard self.completion == nil else { return }
        self.completion = completion
        let listeners = listeners
        self.listeners = []
        for (scope, observer) in listeners { scope.enter { observer.end(completion) } }
    }
}
