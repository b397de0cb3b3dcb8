public import Synchronization

/// One run of a shared stream: where its source lives, whom it sends to, and their brake.
@usableFromInline
final class SharedConnection<Element: Sendable, Failure: Error>: @unchecked Sendable {
    // Unchecked, and spared the checks of exclusivity: `isPaused` is touched only from inside the scope's lane, which is
    // serial.
    @usableFromInline let hub: Hub<Element, Failure>
    @usableFromInline let scope: Scope
    /// How many subscribers are paused. Counted at once and from any lane: a source that sends without end must
    /// see it between two values.
    @usableFromInline let pausedCount = Atomic<Int>(0)
    @safe @exclusivity(unchecked) @usableFromInline var isPaused = false

    /// Creates one whose source is about to be started: its lane is taken.
    @inlinable
    init(replaying count: Int, on scheduler: (any Scheduler)?) {
        hub = Hub(replaying: count)
        scope = Scope(lane: Lane(scheduler: scheduler))
        scope.lane.takeUnshared()
    }

    /// Has a subscriber's pauses count. Only from inside the subscriber's lane.
    @usableFromInline
    func follow(_ subscriber: Scope) {
        let isBraking = Confined(false, in: subscriber.lane)
        let update: @Sendable (Bool) -> Void = { isPaused in
            guard isBraking.value != isPaused else { return }
            isBraking.value = isPaused
            self.pausedCount.add(isPaused ? 1 : -1, ordering: .relaxed)
            self.scope.enter { self.brake() }
        }
        subscriber.onPause { update(true) }
        subscriber.onResume { update(false) }
        subscriber.onClose { update(false) }
        if subscriber.isPaused { update(true) }
    }

    /// Pauses or resumes the source, if it is not yet as its subscribers want it. Only from inside its lane.
    @inlinable
    func brake() {
        let mustPause = pausedCount.load(ordering: .relaxed) > 0
        guard mustPause != isPaused else { return }
        isPaused = mustPause
        if mustPause { scope.pause() } else { scope.resume() }
    }
}
