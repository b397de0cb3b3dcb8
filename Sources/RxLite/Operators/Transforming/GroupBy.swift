import Synchronization

/// The values of one group of ``Observable/groupBy(_:)``, with their key.
public struct GroupedObservable<Key: Sendable, Element: Sendable, Failure: Error>: ObservableConvertible {
    /// The key of the values.
    public let key: Key
    /// The values of the group from the subscription on. Ends with the source of `groupBy`.
    public let observable: Observable<Element, Failure>

    @usableFromInline
    init(key: Key, observable: Observable<Element, Failure>) {
        self.key = key
        self.observable = observable
    }
}

extension Observable {
    /// A stream of the values of each key, sent with the first value of the key.
    ///
    /// ```
    ///                       --a--b--A--c--B--|
    /// groupBy { lowercase }
    ///                       --x--y-----z-----|   x = a---A---|   y = b---B---|   z = c---|
    /// ```
    ///
    /// ```swift
    /// readings.groupBy { $0.sensor }.flatMap { group in
    ///     group.observable.throttle(.seconds(1)).map { (group.key, $0) }
    /// }
    /// ```
    ///
    /// The groups share one run of the source. A group is hot: a subscriber that joins from within the callback which
    /// receives the group gets all of its values, a later one those from then on. Values of a group without
    /// subscribers are dropped. So `flatMap` needs its default strategy: with a limit, it subscribes to a waiting
    /// group too late.
    ///
    /// - **End:** all groups end when the source does, each in the same way, and then the stream.
    /// - **Cancel:** a group whose subscribers have left is not sent again, and can be joined again. The source is
    ///   cancelled when the subscriber of the stream and those of all groups have left.
    /// - **Pause:** a paused subscriber does not block the others. Its values wait; the source is paused when 256 wait
    ///   for any of them, until 64 are left, and while all subscribers are paused. Values of a group that has not been
    ///   delivered yet, because the subscriber of the stream is paused, wait too.
    ///
    /// Keys are kept until the source has ended: do not use it for unbounded keys, such as request ids.
    ///
    /// - Parameter key: the key of a value.
    @inlinable
    public func groupBy<Key: Hashable & Sendable>(
        _ key: @escaping @Sendable (Element) -> Key
    ) -> Observable<GroupedObservable<Key, Element, Failure>, Failure> {
        Observable<GroupedObservable<Key, Element, Failure>, Failure>(scheduler: scheduler) { observer in
            guard observer.scope.isOpen else { return }
            let grouping = Grouping(self, by: key, startedIn: observer.scope.lane)
            grouping.begin(observer)
        }
    }
}

/// One run of the source of a groupBy, with its groups.
@usableFromInline
final class Grouping<Key: Hashable & Sendable, Element: Sendable, Failure: Error>: SharedSource,
    @unchecked Sendable
{
    // Unchecked, like its superclass: its variables are accessed only from inside the scope's lane.

    /// One group. It keeps its values until it has been delivered.
    final class Group: @unchecked Sendable {
        // Unchecked: `isFull` is accessed only from inside the multicaster's lane, which is serial.
        let key: Key
        let multicaster = Multicaster<Element, Failure>(replaying: .max)
        let isDelivered = Atomic<Bool>(false)
        /// Whether the source waits for the delivery.
        var isFull = false

        init(_ key: Key) { self.key = key }
    }

    /// The number of values of a group that has not been delivered at which the source is paused; like the policy in
    /// ``join(_:_:)``, as the documentation of `groupBy` says.
    private static var highWater: Int { 256 }

    private let stream: Observable<Element, Failure>
    private let key: @Sendable (Element) -> Key
    private let outlet = Multicaster<Group, Failure>()
    /// The groups in the order in which they came.
    private var groups: [Group] = []
    private var indices: [Key: Int] = [:]
    /// Whether the subscriber of the groups has left, so that none is delivered any more.
    private var isOutletClosed = false
    /// The number of subscribers, and of groups that are being delivered and may get one.
    private let users = Atomic<Int>(0)

    @usableFromInline
    init(
        _ stream: Observable<Element, Failure>, by key: @escaping @Sendable (Element) -> Key,
        startedIn lane: Lane
    ) {
        self.stream = stream
        self.key = key
        super.init(on: stream.scheduler, startedIn: lane)
        scope.onClose {
            self.groups = []
            self.indices = [:]
        }
    }

    /// Starts the source after the observer's lane has been left, as ``SharedRun`` does.
    @usableFromInline
    func begin(_ observer: Observer<GroupedObservable<Key, Element, Failure>, Failure>) {
        let receiver = Observer<Group, Failure>(
            scope: observer.scope, next: { group in self.deliver(group, to: observer) }, end: observer.end)
        join(receiver, outlet)
        observer.scope.onClose { self.scope.enter { self.closeOutlet() } }
        observer.scope.lane.afterLeaving { self.start() }
    }

    private func join<Value>(_ observer: Observer<Value, Failure>, _ multicaster: Multicaster<Value, Failure>)
    {
        users.add(1, ordering: .relaxed)
        let subscriber = SharedSubscriber(
            observer, of: multicaster, self, .suspend(high: 256, low: 64), nil)
        subscriber.join()
        // After `join`, as in ``SharedRun/join(_:_:_:)``.
        subscriber.scope.onClose { self.leave() }
    }

    private func leave() {
        if users.subtract(1, ordering: .acquiringAndReleasing).newValue == 0 { scope.cancel() }
    }

    /// Sends a group, whose values are dropped from then on if it has no subscriber.
    private func deliver(
        _ group: Group, to observer: Observer<GroupedObservable<Key, Element, Failure>, Failure>
    ) {
        users.add(1, ordering: .relaxed)
        let values = Observable<Element, Failure>(scheduler: stream.scheduler) { observer in
            self.join(observer, group.multicaster)
        }
        observer.next(GroupedObservable(key: group.key, observable: values))
        stopKeeping(group)
        leave()
    }

    private func stopKeeping(_ group: Group) {
        group.isDelivered.store(true, ordering: .relaxed)
        group.multicaster.lane.enter {
            group.multicaster.stopReplaying()
            if group.isFull { self.changeDemand { $0.full -= 1 } }
            group.isFull = false
        }
    }

    private func closeOutlet() {
        isOutletClosed = true
        for group in groups where !group.isDelivered.load(ordering: .relaxed) { stopKeeping(group) }
    }

    private func start() {
        if scope.isOpen {
            applyBackpressure()
            stream.subscribe(
                Observer(
                    scope: scope,
                    next: { value in
                        self.receive(value)
                        self.applyBackpressure()
                    },
                    end: { completion in
                        let groups = self.groups
                        self.scope.end {
                            for group in groups { group.multicaster.end(completion) }
                            self.outlet.end(completion)
                        }
                    }))
        }
        scope.lane.leave()
    }

    private func receive(_ value: Element) {
        guard let group = group(for: key(value)), scope.isOpen else { return }
        send(value, to: group.multicaster)
        if !group.isDelivered.load(ordering: .relaxed) { checkWaiting(group) }
    }

    private func group(for key: Key) -> Group? {
        if let index = indices[key] { return groups[index] }
        guard !isOutletClosed else { return nil }
        let group = Group(key)
        indices[key] = groups.count
        groups.append(group)
        send(group, to: outlet)
        return group
    }

    private func checkWaiting(_ group: Group) {
        group.multicaster.lane.enter {
            guard !group.isFull, group.multicaster.replay.count >= Self.highWater else { return }
            group.isFull = true
            self.changeDemand { $0.full += 1 }
        }
    }
}
