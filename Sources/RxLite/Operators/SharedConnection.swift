public import Synchronization

/// The source of a shared stream: its scope, and the demand of its subscribers.
@usableFromInline
class SharedSource: @unchecked Sendable {
    // Unchecked, without exclusivity checks: `isPaused` is accessed only from inside the scope's lane, which
    // is serial.
    @usableFromInline final let scope: Scope
    @usableFromInline final let demand = Mutex(SharedDemand())
    /// The consequence of `demand`. Changed immediately and from any lane, because a source that sends
    /// without end must see it between two values.
    @usableFromInline final let mustPause = Atomic<Bool>(false)
    @safe @exclusivity(unchecked) @usableFromInline final var isPaused = false

    /// A source that is about to be started: its lane is taken.
    @inlinable
    init(on scheduler: (any Scheduler)?, startedIn lane: Lane) {
        scope = Scope(lane: .forSharing(on: scheduler, startedIn: lane))
        scope.lane.takeUnshared()
    }

    /// Sends a value to all subscribers of `multicaster`. Only from inside the source's lane.
    ///
    /// If another thread is in the multicaster, the value waits for it, and the source for the value, so that
    /// at most one value ever waits.
    @inlinable
    final func send<Element, Failure>(_ value: Element, to multicaster: Multicaster<Element, Failure>) {
        if multicaster.lane.tryEnter() {
            multicaster.deliver(value)
            multicaster.lane.leave()
        } else {
            changeDemand { $0.full += 1 }
            multicaster.lane.enqueue {
                multicaster.deliver(value)
                self.changeDemand { $0.full -= 1 }
            }
        }
    }

    /// Changes the demand, from any lane.
    @usableFromInline
    final func changeDemand(_ change: (inout SharedDemand) -> Void) {
        let isChanged = demand.withLock { demand in
            change(&demand)
            return mustPause.exchange(demand.mustPause, ordering: .relaxed) != demand.mustPause
        }
        if isChanged { scope.enter { self.brake() } }
    }

    /// Pauses or resumes the source if its state differs from the demand. Only from inside its lane.
    @inlinable
    final func brake() {
        let mustPause = mustPause.load(ordering: .relaxed)
        guard mustPause != isPaused else { return }
        isPaused = mustPause
        if mustPause { scope.pause() } else { scope.resume() }
    }
}

/// One run of a shared stream: its source and its subscribers.
@usableFromInline
final class SharedConnection<Element: Sendable, Failure: Error>: SharedSource, @unchecked Sendable {
    // Unchecked, like its superclass.
    @usableFromInline let multicaster: Multicaster<Element, Failure>

    @inlinable
    init(replaying count: Int, on scheduler: (any Scheduler)?, startedIn lane: Lane) {
        multicaster = Multicaster(replaying: count)
        super.init(on: scheduler, startedIn: lane)
    }
}
