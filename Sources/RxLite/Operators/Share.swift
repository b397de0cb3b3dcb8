public import Synchronization

/// When a shared stream forgets its run, so that the next subscriber starts a new one.
public struct ShareReset: OptionSet, Sendable {
    /// The bits.
    public var rawValue: Int

    /// Creates a set from its bits.
    public init(rawValue: Int) { self.rawValue = rawValue }

    /// When the last subscriber has left; the source is cancelled. Without it the source runs on.
    public static let unused = ShareReset(rawValue: 1)
    /// When the source has ended well. Without it later subscribers get the replay and the end.
    public static let finished = ShareReset(rawValue: 2)
    /// When the source has failed. Without it later subscribers get the replay and the error.
    public static let failed = ShareReset(rawValue: 4)
    /// In all three cases.
    public static let always: ShareReset = [.unused, .finished, .failed]
}

extension Observable {
    /// One run of the stream for all who subscribe while it lasts.
    ///
    /// ```
    ///         --1--2--3--|        runs once
    /// share()
    ///         --1--2--3--|
    ///            ^-2--3--|        subscribed later
    /// share(replay: 1)
    ///            1-2--3--|        the same, with the value before at once
    /// ```
    ///
    /// The first subscriber starts it. Replayed and live values come in one order, none twice and none
    /// left out.
    ///
    /// A paused subscriber holds up nobody else: the others get their values, and its own wait for it. The source is
    /// paused while all of its subscribers are, and where `policy` says so.
    ///
    /// - Parameters:
    ///   - replay: how many of the latest values a later subscriber gets first. Default 0.
    ///   - reset: when the run is forgotten. Default: always.
    ///   - policy: how many values may wait for one subscriber that is paused, or slower than the source. Default: when
    ///     256 wait for any of them the source is paused, until they are down to 64. With
    ///     ``BufferPolicy/fail(above:with:)`` the subscriber that falls behind fails, and the others go on.
    ///   - droppedCount: counts up with each value that `policy` has no room for. Default: not counted.
    @inlinable
    public func share(
        replay: Int = 0, reset: ShareReset = .always,
        buffering policy: BufferPolicy<Failure> = .suspend(high: 256, low: 64),
        countingDropped droppedCount: State<Int>? = nil
    ) -> Observable {
        let shared = SharedRun(self, replay: replay, reset: reset)
        return Observable(scheduler: scheduler) { observer in
            shared.join(observer, policy, droppedCount)
        }
    }
}

/// The run that the subscribers of one shared stream have in common.
@usableFromInline
final class SharedRun<Element: Sendable, Failure: Error>: Sendable {
    @usableFromInline typealias Connection = SharedConnection<Element, Failure>

    @usableFromInline
    struct Contents {
        @usableFromInline var connection: Connection?
        @usableFromInline var users = 0
        /// Subscribers that leave because of the end do not make the run forgotten.
        @usableFromInline var hasEnded = false

        @inlinable
        init() {}
    }

    @usableFromInline let stream: Observable<Element, Failure>
    @usableFromInline let replay: Int
    @usableFromInline let reset: ShareReset
    @usableFromInline let contents = Mutex(Contents())

    @inlinable
    init(_ stream: Observable<Element, Failure>, replay: Int, reset: ShareReset) {
        self.stream = stream
        self.replay = replay
        self.reset = reset
    }

    /// Called inside the subscriber's lane. Whoever makes the run starts it, as soon as that lane is left:
    /// a source that sends at once and without end must find its subscribers able to listen, and to leave.
    @inlinable
    func join(
        _ observer: Observer<Element, Failure>, _ policy: BufferPolicy<Failure>, _ droppedCount: State<Int>?
    ) {
        guard observer.scope.isOpen else { return }
        let new = Connection(replaying: replay, on: stream.scheduler)
        let connection = contents.withLock { contents in
            contents.users += 1
            if let connection = contents.connection { return connection }
            contents.connection = new
            return new
        }
        let subscriber = SharedSubscriber(observer, of: connection, policy, droppedCount)
        subscriber.join()
        // Leaves before its pause is taken back: a source paused by it alone must not go on just to be cancelled.
        subscriber.scope.onClose { self.leave(connection) }
        guard connection === new else { return }
        observer.scope.lane.afterLeaving { self.start(connection) }
    }

    @inlinable
    func start(_ connection: Connection) {
        let scope = connection.scope
        if scope.isOpen {
            connection.brake()
            stream.subscribe(
                Observer(
                    scope: scope,
                    next: { value in
                        connection.send(value)
                        connection.brake()
                    },
                    end: { completion in scope.end { self.end(connection, completion) } }))
        }
        scope.lane.leave()
    }

    @inlinable
    func leave(_ left: Connection) {
        let isUnused = contents.withLock { contents in
            guard contents.connection === left else { return false }
            contents.users -= 1
            guard contents.users == 0, !contents.hasEnded, reset.contains(.unused) else { return false }
            contents = Contents()
            return true
        }
        if isUnused { left.scope.cancel() }
    }

    /// Forgets the run before its end goes out, so that who subscribes from within the end starts anew.
    @inlinable
    func end(_ ended: Connection, _ completion: Completion<Failure>) {
        let forgets =
            switch completion {
            case .finished: reset.contains(.finished)
            case .failed: reset.contains(.failed)
            }
        contents.withLock { contents in
            guard contents.connection === ended else { return }
            contents = Contents()
            if !forgets {
                contents.connection = ended
                contents.hasEnded = true
            }
        }
        ended.hub.end(completion)
    }
}
