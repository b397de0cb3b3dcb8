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
    /// The first subscriber starts it. Replayed and live values come in one order, none twice and none
    /// left out.
    ///
    /// - Parameters:
    ///   - replay: how many of the latest values a later subscriber gets first. Default 0.
    ///   - reset: when the run is forgotten. Default: always.
    @inlinable
    public func share(replay: Int = 0, reset: ShareReset = .always) -> Observable {
        let shared = SharedRun(self, replay: replay, reset: reset)
        return Observable(scheduler: scheduler) { observer in shared.join(observer) }
    }
}

/// The run that the subscribers of one shared stream have in common.
@usableFromInline
final class SharedRun<Element: Sendable, Failure: Error>: Sendable {
    @usableFromInline
    struct Contents {
        @usableFromInline var hub: Hub<Element, Failure>?
        @usableFromInline var connection: Scope?
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
    func join(_ observer: Observer<Element, Failure>) {
        guard observer.scope.isOpen else { return }
        let newHub = Hub<Element, Failure>(replaying: replay)
        let connection = Scope(lane: Lane(scheduler: stream.scheduler))
        connection.lane.takeUnshared()
        let hub = contents.withLock { contents in
            contents.users += 1
            if let hub = contents.hub { return hub }
            contents.hub = newHub
            contents.connection = connection
            return newHub
        }
        hub.add(observer)
        observer.scope.onClose { self.leave(hub) }
        guard hub === newHub else { return }
        observer.scope.lane.afterLeaving { self.start(hub, connection) }
    }

    @inlinable
    func start(_ hub: Hub<Element, Failure>, _ connection: Scope) {
        if connection.isOpen {
            stream.subscribe(
                Observer(scope: connection, next: { hub.send($0) }) { completion in
                    connection.end { self.end(hub, completion) }
                })
        }
        connection.lane.leave()
    }

    @inlinable
    func leave(_ left: Hub<Element, Failure>) {
        let connection = contents.withLock { contents -> Scope? in
            guard contents.hub === left else { return nil }
            contents.users -= 1
            guard contents.users == 0, !contents.hasEnded, reset.contains(.unused) else { return nil }
            defer { contents = Contents() }
            return contents.connection
        }
        connection?.cancel()
    }

    /// Forgets the run before its end goes out, so that who subscribes from within the end starts anew.
    @inlinable
    func end(_ ended: Hub<Element, Failure>, _ completion: Completion<Failure>) {
        let forgets =
            switch completion {
            case .finished: reset.contains(.finished)
            case .failed: reset.contains(.failed)
            }
        let forgotten = contents.withLock { contents -> Contents? in
            guard contents.hub === ended else { return nil }
            let before = contents
            contents = Contents()
            if !forgets {
                contents.hub = ended
                contents.hasEnded = true
            }
            return before
        }
        ended.end(completion)
        // Let go of here, not under the lock.
        _ = forgotten
    }
}
