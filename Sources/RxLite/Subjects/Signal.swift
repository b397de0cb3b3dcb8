/// A hot stream that receives its values from outside and never fails: a button, a notification, a command.
///
/// ```swift
/// let reload = Signal<Void>()
/// reload.subscribe { print("reloading") }
/// reload.send()
/// ```
///
/// All current subscribers get each value, in the same order. Sending is thread-safe; a value sent from
/// within a delivery is delivered after it. A signal that is released sends nothing more, and lets go of its
/// subscribers: a discarded subscription goes with it, unless one of its operators has timers or other streams
/// (`debounce`, `flatMap`).
public final class Signal<Element: Sendable>: Sendable {
    @usableFromInline let multicaster = Multicaster<Element, Never>()

    /// Creates a signal without subscribers.
    @inlinable
    public init() {}

    deinit { multicaster.abandon() }

    /// The values sent after the subscription. Never ends.
    @inlinable
    public var observable: Observable<Element, Never> {
        Observable { [multicaster] observer in multicaster.add(observer) }
    }

    /// Sends a value to all subscribers.
    @inlinable
    public func send(_ value: Element) { multicaster.send(value) }
}

extension Signal<Void> {
    /// Sends a value.
    @inlinable
    public func send() { send(()) }
}

// MARK: - Listeners

/// Sends each event to all listeners, in the same order for all: the core of ``Signal``, ``MutableProperty`` and
/// ``Observable/share(replay:reset:buffering:countingDropped:)``.
@usableFromInline
final class Multicaster<Element: Sendable, Failure: Error>: @unchecked Sendable {
    // Unchecked, without exclusivity checks: the variables below are accessed only from inside `lane`, which
    // is serial, and never while one of them is being changed. Debug builds check that.

    /// A listener. Its constants are read without being retained, unlike an array's elements.
    @usableFromInline
    final class Listener: SlotMember, Sendable {
        @usableFromInline let observer: Observer<Element, Failure>
        @usableFromInline let slot = Slot()
        /// Receives the values instead of the observer, if it belongs to a shared stream.
        @usableFromInline let subscriber: SharedSubscriber<Element, Failure>?

        @inlinable
        init(_ observer: Observer<Element, Failure>, _ subscriber: SharedSubscriber<Element, Failure>?) {
            self.observer = observer
            self.subscriber = subscriber
        }

        @inlinable
        func receive(_ value: Element) {
            if let subscriber { return subscriber.receive(value) }
            let lane = observer.scope.lane
            if lane.tryEnter() {
                if observer.scope.isOpen { observer.next(value) }
                lane.leave()
            } else {
                enqueue(value)
            }
        }

        @inlinable
        @inline(never)
        func enqueue(_ value: Element) {
            observer.scope.lane.enqueue { [observer] in if observer.scope.isOpen { observer.next(value) } }
        }
    }

    /// Events, arrivals and departures pass through the lane one at a time; an event sent from within a
    /// delivery waits until that delivery is complete.
    @usableFromInline let lane = Lane()
    @safe @exclusivity(unchecked) @usableFromInline var listeners = SlotList<Listener>()
    /// The latest values, at most ``replayCount`` of them, which listeners to come receive first.
    @safe @exclusivity(unchecked) @usableFromInline var replay: FIFO<Element>
    @safe @exclusivity(unchecked) @usableFromInline var replayCount: Int
    /// The end, which listeners to come receive after the replayed values.
    @safe @exclusivity(unchecked) @usableFromInline var completion: Completion<Failure>?
    /// Shows the values of a signal or property that has a name.
    @safe @exclusivity(unchecked) @usableFromInline var probe: StreamProbe<Element>?
    /// Whether nobody can send values any more.
    @safe @exclusivity(unchecked) @usableFromInline var isAbandoned = false
    /// Makes the probe of a signal or property that got its name when no inspector was attached.
    @safe @exclusivity(unchecked) @usableFromInline var lateProbe:
        (@Sendable (_ isLate: Bool) -> StreamProbe<Element>?)?

    @inlinable
    init(replaying count: Int = 0, initial: [Element] = []) {
        replayCount = count
        replay = FIFO(initial)
    }

    /// Sends a value to all listeners. Thread-safe.
    @inlinable
    func send(_ value: Element) {
        if lane.tryEnter() {
            deliver(value)
            lane.leave()
        } else {
            enqueue(value)
        }
    }

    @inlinable
    @inline(never)
    func enqueue(_ value: Element) {
        lane.enqueue { self.deliver(value) }
    }

    /// Ends the stream for all listeners. Thread-safe.
    @inlinable
    func end(_ completion: Completion<Failure>) {
        lane.enter { self.deliverEnd(completion) }
    }

    /// Adds a listener, which first receives the replayed values. Only from inside the listener's lane.
    ///
    /// Its removal goes through the same queue, after the addition; before it only if the scope is already closed, and
    /// then the listener is not added.
    ///
    /// - Parameter subscriber: receives the values instead of the observer, if it belongs to a shared stream.
    @inlinable
    func add(
        _ observer: Observer<Element, Failure>, as subscriber: SharedSubscriber<Element, Failure>? = nil
    ) {
        let scope = observer.scope
        let listener = Listener(observer, subscriber)
        // Not the listener: it holds the scope, which would hold it by this closure, so that a discarded subscription
        // would leak.
        let slot = listener.slot
        scope.onClose {
            self.lane.enter { self.listeners.remove(at: slot) }
        }
        lane.enter {
            if let subscriber {
                subscriber.replay(self.replay)
            } else {
                self.replay.forEach { value in scope.enter { observer.next(value) } }
            }
            if let completion = self.completion {
                scope.enter { observer.end(completion) }
            } else if scope.isOpen, !self.isAbandoned {
                self.listeners.append(listener)
            }
        }
    }

    /// Lets go of the listeners, to whom nobody can send any more. Thread-safe.
    @usableFromInline
    func abandon() {
        lane.enter {
            self.isAbandoned = true
            guard self.listeners.count > 0 else { return }
            let listeners = self.listeners
            self.listeners = SlotList()
            listeners.forEach { $0.slot.index = nil }
            // What they hold may use the lane when it is released.
            self.lane.afterLeaving { withExtendedLifetime(listeners) {} }
        }
    }

    /// Keeps no more values for listeners to come. Only from inside ``lane``.
    @usableFromInline
    func stopReplaying() {
        lane.assertInside()
        replayCount = 0
        replay.removeAll()
    }

    /// Delivers a value to all listeners. Only from inside ``lane``.
    @inlinable
    func deliver(_ value: Element) {
        lane.assertInside()
        guard completion == nil else { return }
        if replayCount == 1 {
            replay.keepOnly(value)
        } else if replayCount > 0 {
            if replay.count == replayCount { _ = replay.popFirst() }
            replay.append(value)
        }
        if let probe { probe.deliver(value) { deliverToListeners(value) } } else { deliverToListeners(value) }
    }

    @inlinable
    @inline(__always)
    func deliverToListeners(_ value: Element) {
        // No listener joins or leaves while the lane is taken, so the listeners need not be retained.
        for index in listeners.slots.indices where listeners.slots[index] != nil {
            unsafe Unmanaged.passUnretained(listeners.slots[index]!)._withUnsafeGuaranteedRef {
                $0.receive(value)
            }
        }
    }

    @inlinable
    func deliverEnd(_ completion: Completion<Failure>) {
        lane.assertInside()
        guard self.completion == nil else { return }
        self.completion = completion
        let listeners = listeners
        self.listeners = SlotList()
        listeners.forEach { listener in
            listener.slot.index = nil
            let observer = listener.observer
            observer.scope.enter { observer.end(completion) }
        }
    }
}

/// A member of ``SlotList``.
@usableFromInline
protocol SlotMember: AnyObject {
    var slot: Slot { get }
}

/// The slot of a member, by which it can be removed without being retained until then.
@usableFromInline
final class Slot: @unchecked Sendable {
    // Unchecked, without exclusivity checks: accessed only where the list is, such as inside the multicaster's lane.
    /// The index in the list, if the member is in one.
    @safe @exclusivity(unchecked) @usableFromInline var index: Int?

    @usableFromInline
    init() {}
}

/// Members in order of arrival, which can leave in constant time: a slot stays empty until half of the slots
/// are empty, then the remaining members move up.
@usableFromInline
struct SlotList<Member: SlotMember> {
    /// Up to this many empty slots are kept in any case.
    @inlinable static var spareSlots: Int { 16 }

    /// The members in order, and empty slots.
    @usableFromInline var slots: [Member?] = []
    @usableFromInline var emptyCount = 0

    @inlinable
    init() {}

    @inlinable var count: Int { slots.count - emptyCount }

    @usableFromInline
    mutating func append(_ member: Member) {
        member.slot.index = slots.count
        slots.append(member)
    }

    /// Removes the member with a slot. Does nothing if it is in no list.
    @usableFromInline
    mutating func remove(at slot: Slot) {
        guard let index = slot.index else { return }
        slot.index = nil
        slots[index] = nil
        emptyCount += 1
        if emptyCount > Self.spareSlots && emptyCount * 2 > slots.count { moveUp() }
    }

    private mutating func moveUp() {
        slots.removeAll { $0 == nil }
        for index in slots.indices { slots[index]?.slot.index = index }
        emptyCount = 0
    }

    @usableFromInline
    func forEach(_ body: (Member) -> Void) {
        for case let member? in slots { body(member) }
    }
}

extension SlotList: Sendable where Member: Sendable {}
