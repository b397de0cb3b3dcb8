public import Synchronization

/// The state that a running subscription shares with its source: whether it is open, whether it is paused, and its
/// teardowns.
///
/// A scope is created before its source runs. A source checks ``isOpen`` before each event and ``isPaused``
/// before each value that it could send later, and registers cleanup with ``onClose(_:)``. Operators that end
/// early or run several sources give each a ``child()``: closing a scope closes its children first.
///
/// Threads: ``isOpen``, ``isPaused``, ``cancel()`` and ``enter(_:)`` from any; everything else only from
/// inside the lane, the serial context of the subscription, where every source and operator runs. A lane with a
/// scheduler runs only on that; without one, a caller that finds it free runs inside, and work that arrives meanwhile
/// is queued.
public final class Scope: Cancellable, @unchecked Sendable {
    // Unchecked, without exclusivity checks: the plain variables below are accessed only from inside `lane`,
    // which is serial, and no call is made while one is being changed; state that other threads read is
    // atomic. Debug builds check that.

    /// The serial context of everything in this subscription.
    @usableFromInline package let lane: Lane

    @usableFromInline let phase = Atomic<UInt8>(Phase.open)
    /// Whether this is the root, whose cancel is that of the whole subscription.
    @usableFromInline let isRoot: Bool
    /// The calls of ``pause()`` that are not undone, and one more while the parent is paused,
    /// however often that is.
    @usableFromInline let pauses = Atomic<Int>(0)
    @safe @exclusivity(unchecked) private var teardowns = Callbacks()
    /// `nil` without any, because most scopes have none.
    @safe @exclusivity(unchecked) private var reactions: PauseReactions?
    @safe @exclusivity(unchecked) private var parent: Scope?
    @safe @exclusivity(unchecked) private var firstChild: Scope?
    @safe @exclusivity(unchecked) private var next: Scope?
    @exclusivity(unchecked) private unowned(unsafe) var previous: Scope?

    /// The operator that made this scope for one of its sources, so that the source's observer needs to keep
    /// only the scope. Only ``Flattening`` does, and casts it without a check.
    @usableFromInline let owner: AnyObject?

    @usableFromInline
    enum Phase {
        @inlinable static var open: UInt8 { 0 }
        /// Cancelled but not torn down yet, which happens in the lane.
        @inlinable static var cancelled: UInt8 { 1 }
        @inlinable static var closed: UInt8 { 2 }
    }

    /// Creates the root scope of a subscription.
    ///
    /// - Parameter scheduler: the scheduler on which everything in the subscription runs. Default `nil`: the callers
    ///   run it.
    public convenience init(scheduler: (any Scheduler)? = nil) {
        self.init(lane: .forSubscription(on: scheduler))
    }

    @usableFromInline
    package init(lane: Lane) {
        self.lane = lane
        isRoot = true
        owner = nil
    }

    private init(childIn lane: Lane, owner: AnyObject?) {
        self.lane = lane
        isRoot = false
        self.owner = owner
    }

    private var ownReactions: PauseReactions {
        if let reactions { return reactions }
        let made = PauseReactions()
        reactions = made
        return made
    }

    /// Whether the subscription still takes events. `false` after ``close()``, and as soon as the
    /// subscription has been cancelled from any thread.
    @inlinable
    public var isOpen: Bool { phase.load(ordering: .relaxed) == Phase.open && !lane.isCancelled }

    /// Whether the consumer is full: a source that can wait sends nothing until ``onResume(_:)`` calls.
    @inlinable
    public var isPaused: Bool { isHeld || lane.isPausing }

    /// Whether a pause has reached the scope.
    @inlinable var isHeld: Bool { pauses.load(ordering: .relaxed) > 0 }

    /// A scope for one of several sources, or for one that may end before this scope.
    public func child() -> Scope { child(of: nil) }

    @usableFromInline
    func child(of owner: AnyObject?) -> Scope {
        let child = Scope(childIn: lane, owner: owner)
        adopt(child)
        return child
    }

    /// Adds a child that is new, or closed and referenced only by the caller.
    @usableFromInline
    func adopt(_ child: Scope) {
        lane.assertInside()
        guard isOpen else { return child.phase.store(Phase.closed, ordering: .relaxed) }
        child.phase.store(Phase.open, ordering: .relaxed)
        // Not `isPaused`: a pause that still waits for its turn will reach the child too.
        child.pauses.store(isHeld ? 1 : 0, ordering: .relaxed)
        child.parent = self
        unsafe firstChild?.previous = child
        // Swapped, because moving needs no retain.
        swap(&child.next, &firstChild)
        firstChild = child
    }

    /// Whether the scope has ended and left its parent, so that ``adopt(_:)`` can reuse it.
    @usableFromInline var isDone: Bool { phase.load(ordering: .relaxed) == Phase.closed && parent == nil }

    /// Runs `teardown` when the scope closes, or now if it is closed.
    public func onClose(_ teardown: @escaping @Sendable () -> Void) {
        lane.assertInside()
        if phase.load(ordering: .relaxed) == Phase.closed {
            teardown()
        } else {
            teardowns.append(teardown)
        }
    }

    /// Runs `resumption` each time the scope goes from paused to running.
    public func onResume(_ resumption: @escaping @Sendable () -> Void) {
        lane.assertInside()
        if isOpen { ownReactions.resumptions.append(resumption) }
    }

    /// Runs `work` once, as soon as the scope is open and not paused: now, or at the end of the pause. For events that
    /// were under way when the pause came.
    @inlinable
    package func whenRunning(_ work: @escaping @Sendable () -> Void) {
        guard isOpen else { return }
        if isPaused { afterPause(work) } else { work() }
    }

    /// Runs `work` once, at the end of the pause.
    @usableFromInline
    func afterPause(_ work: @escaping @Sendable () -> Void) {
        let wait = child()
        wait.onResume {
            wait.close()
            work()
        }
    }

    /// Runs `action` each time the scope goes from running to paused. For sources in a separate lane; others
    /// check ``isPaused``.
    @usableFromInline
    func onPause(_ action: @escaping @Sendable () -> Void) {
        lane.assertInside()
        if isOpen { ownReactions.pauses.append(action) }
    }

    /// Ends the source, whose events are no longer wanted. Children close first, then teardowns run, last
    /// registered first.
    @inlinable
    public func close() {
        if markClosed() { finishClosing() }
    }

    /// Closes the scope, and delivers the end before anything is torn down. Does nothing if the scope is
    /// closed.
    @inlinable
    func end(_ deliver: () -> Void) {
        lane.assertInside()
        guard isOpen, markClosed() else { return }
        deliver()
        finishClosing()
    }

    /// Marks the scope as closed. Returns whether it was open before.
    @inlinable
    func markClosed() -> Bool {
        lane.assertInside()
        // No exchange is needed: only a cancel may come in between, which does not affect a closed scope.
        guard phase.load(ordering: .relaxed) != Phase.closed else { return false }
        phase.store(Phase.closed, ordering: .relaxed)
        if isRoot { lane.markEnded() }
        return true
    }

    /// Walks the tree in a loop, because streams that recurse through flatMap make it deep.
    @usableFromInline
    func finishClosing() {
        guard firstChild != nil else { return tearDown() }
        var scope = self
        while true {
            if let child = scope.firstChild {
                // A child that is already closed is being torn down further up the stack.
                if child.markClosed() { scope = child } else { scope.unlink(child) }
                continue
            }
            let parent = scope.parent
            scope.tearDown()
            guard scope !== self, let parent else { return }
            scope = parent
        }
    }

    private func tearDown() {
        parent?.unlink(self)
        reactions = nil
        while let teardown = teardowns.popLast() { teardown() }
    }

    /// Pauses the source. Calls nest; each needs a ``resume()``.
    public func pause() {
        lane.assertInside()
        var pending = [self]
        while let scope = pending.popLast() {
            guard scope.pauses.add(1, ordering: .relaxed).oldValue == 0 else { continue }
            pending += scope.children()
            let pauses = scope.reactions?.pauses
            pauses?.forEach { action in action() }
        }
    }

    /// Undoes one ``pause()``. With the last one, paused sources resume from inside this call. Does nothing
    /// without a pause.
    public func resume() {
        lane.assertInside()
        guard isHeld else { return }
        var pending = [self]
        while let scope = pending.popLast() {
            guard scope.pauses.subtract(1, ordering: .relaxed).newValue == 0 else { continue }
            // Children that a resumption starts are not affected by the pause undone here.
            pending += scope.children()
            let resumptions = scope.reactions?.resumptions
            resumptions?.forEach { resumption in if scope.isOpen && !scope.isPaused { resumption() } }
        }
    }

    /// Pauses the source from any thread. Sources see it at once, even from within an event that they send.
    func pauseFromAnywhere() {
        lane.beginPausing()
        lane.enter {
            if self.isOpen { self.pause() }
            self.lane.endPausing()
        }
    }

    /// Closes the scope from any thread. Events stop being delivered at once; teardown runs in the lane.
    public func cancel() {
        if isRoot {
            lane.markCancelled()
        } else {
            _ = phase.compareExchange(
                expected: Phase.open, desired: Phase.cancelled, ordering: .relaxed)
        }
        // A closed scope has been torn down, or is about to be.
        if phase.load(ordering: .relaxed) != Phase.closed { lane.enter { self.close() } }
    }

    /// Runs `work` now if the lane's scheduler is current, otherwise posts it. For sources that send during
    /// the subscription: the lane is taken then, but perhaps by a thread that is not its scheduler's.
    @inlinable
    public func perform(_ work: @escaping @Sendable () -> Void) {
        if lane.isOnScheduler {
            if isOpen { work() }
        } else {
            lane.enqueue { if self.isOpen { work() } }
        }
    }

    /// Runs `work` in the lane if the scope is still open by then. The entry for events from other threads
    /// and timers.
    @inlinable
    public func enter(_ work: @escaping @Sendable () -> Void) {
        if lane.tryEnter() {
            if isOpen { work() }
            lane.leave()
        } else {
            lane.enqueue { if self.isOpen { work() } }
        }
    }

    /// Stops a debug build if the caller is not inside the lane. For state that is `@unchecked Sendable` because it is
    /// accessed only there.
    @inlinable
    public func assertInside(file: StaticString = #file, line: UInt = #line) {
        lane.assertInside(file: file, line: line)
    }

    /// The children, the newest first. A snapshot, because a resumption may close children or start new ones.
    /// ``pause()`` and ``resume()`` take from its end: streams resume in the order in which they were started, as
    /// Contracts.md promises and `flatMap` needs.
    private func children() -> [Scope] {
        guard let firstChild else { return [] }
        return Array(sequence(first: firstChild, next: \.next))
    }

    private func unlink(_ child: Scope) {
        guard child.parent === self else { return }
        unsafe child.next?.previous = child.previous
        if let previous = unsafe child.previous {
            swap(&previous.next, &child.next)
            unsafe child.previous = nil
        } else {
            swap(&firstChild, &child.next)
        }
        child.next = nil
        child.parent = nil
    }
}

/// The reactions of a scope to a pause and to the end of it.
final class PauseReactions {
    // Without exclusivity checks: accessed only from inside the lane of the scope, and nothing is called while one is
    // being changed.
    @safe @exclusivity(unchecked) var pauses = Callbacks()
    @safe @exclusivity(unchecked) var resumptions = Callbacks()
}

/// A closure stored in a collection. A bare closure would be wrapped in another, which is allocated.
@usableFromInline
struct Callback: Sendable {
    @usableFromInline let call: @Sendable () -> Void

    @inlinable
    init(call: @escaping @Sendable () -> Void) { self.call = call }
}

/// The callbacks of a scope for one occasion, in order. The first is stored separately, because most scopes
/// have no other.
struct Callbacks {
    private var first: (@Sendable () -> Void)?
    private var later: [Callback] = []

    mutating func append(_ callback: @escaping @Sendable () -> Void) {
        if first == nil { first = callback } else { later.append(Callback(call: callback)) }
    }

    mutating func popLast() -> (@Sendable () -> Void)? {
        if let callback = later.popLast() { return callback.call }
        defer { first = nil }
        return first
    }

    mutating func removeAll() {
        if first != nil { self = Callbacks() }
    }

    func forEach(_ body: (@Sendable () -> Void) -> Void) {
        if let first { body(first) }
        for callback in later { body(callback.call) }
    }
}
