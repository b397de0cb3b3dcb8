public import Synchronization

/// The current run of a shared stream, which its subscribers have in common.
@usableFromInline
final class SharedRun<Element: Sendable, Failure: Error>: Sendable {
    @usableFromInline typealias Connection = SharedConnection<Element, Failure>
    /// Makes the stream whose first value resets the run, from the run's end, or from `nil` when the last
    /// subscriber has left.
    @usableFromInline typealias Notices = @Sendable (Completion<Failure>?) -> Observable<Void, Never>

    @usableFromInline
    struct Contents: Sendable {
        @usableFromInline var connection: Connection?
        @usableFromInline var users = 0
        /// Whether the run has ended. Subscribers that leave because of the end do not reset the run.
        @usableFromInline var hasEnded = false
        /// The notice that is being awaited.
        @usableFromInline var notice: Subscription?
        /// Distinguishes the awaited notice from those that have been withdrawn.
        @usableFromInline var noticeNumber = 0

        @inlinable
        init() {}

        /// Withdraws the awaited notice, if any. The caller cancels it after unlocking.
        @inlinable
        mutating func withdrawNotice() -> Subscription? {
            noticeNumber += 1
            return notice.take()
        }
    }

    @usableFromInline let stream: Observable<Element, Failure>
    @usableFromInline let replay: Int
    @usableFromInline let reset: ShareReset
    /// `nil` resets immediately.
    @usableFromInline let notices: Notices?
    @usableFromInline let contents = Mutex(Contents())

    @inlinable
    init(
        _ stream: Observable<Element, Failure>, replay: Int, reset: ShareReset, notices: Notices? = nil
    ) {
        self.stream = stream
        self.replay = replay
        self.reset = reset
        self.notices = notices
    }

    /// Called inside the subscriber's lane. The caller that creates the run starts it, after leaving that
    /// lane: a source that sends at once and without end must find its subscribers able to receive, and to
    /// cancel.
    @inlinable
    func join(
        _ observer: Observer<Element, Failure>, _ policy: BufferPolicy<Failure>,
        _ droppedCount: MutableProperty<Int>?
    ) {
        guard observer.scope.isOpen else { return }
        let new = Connection(
            replaying: replay, on: stream.scheduler, startedIn: observer.scope.lane)
        let (connection, notice) = contents.withLock { contents in
            contents.users += 1
            let notice = contents.hasEnded ? nil : contents.withdrawNotice()
            let connection = contents.connection ?? new
            contents.connection = connection
            return (connection, notice)
        }
        notice?.cancel()
        let subscriber = SharedSubscriber(
            observer, of: connection.multicaster, connection, policy, droppedCount)
        subscriber.join()
        // Leaves before its pause is undone: a source paused by this subscriber alone must not resume just to
        // be cancelled.
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
                        connection.send(value, to: connection.multicaster)
                        connection.brake()
                    },
                    end: { completion in scope.end { self.end(connection, completion) } }))
        }
        scope.lane.leave()
    }

    @inlinable
    func leave(_ left: Connection) {
        let number = contents.withLock { contents -> Int? in
            guard contents.connection === left else { return nil }
            contents.users -= 1
            guard contents.users == 0, !contents.hasEnded, reset.contains(.unused) else { return nil }
            return contents.noticeNumber
        }
        if let number { awaitNotice(number, toForget: left, after: nil) }
    }

    /// Forgets the run before its end is sent, so that a subscription made from within the end starts a new
    /// run.
    @inlinable
    func end(_ ended: Connection, _ completion: Completion<Failure>) {
        let occasion: ShareReset =
            switch completion {
            case .finished: .finished
            case .failed: .failed
            }
        let (number, notice) = contents.withLock { contents -> (Int?, Subscription?) in
            guard contents.connection === ended else { return (nil, nil) }
            contents.hasEnded = true
            let notice = contents.withdrawNotice()
            return (reset.contains(occasion) ? contents.noticeNumber : nil, notice)
        }
        notice?.cancel()
        if let number { awaitNotice(number, toForget: ended, after: completion) }
        ended.multicaster.end(completion)
    }

    /// Forgets the run at the first notice, unless the notice is withdrawn before.
    @inlinable
    func awaitNotice(_ number: Int, toForget connection: Connection, after completion: Completion<Failure>?) {
        guard let notices else { return forget(connection, number) }
        let notice = notices(completion).take(1).subscribe { self.forget(connection, number) }
        let isAwaited = contents.withLock { contents in
            guard contents.connection === connection, contents.noticeNumber == number else { return false }
            contents.notice = notice
            return true
        }
        if !isAwaited { notice.cancel() }
    }

    /// Forgets the run, and cancels its source, unless the notice has been withdrawn.
    @inlinable
    func forget(_ connection: Connection, _ number: Int) {
        let forgotten = contents.withLock { contents -> Contents? in
            guard contents.connection === connection, contents.noticeNumber == number else { return nil }
            let forgotten = contents
            contents = Contents()
            return forgotten
        }
        if let forgotten, !forgotten.hasEnded { connection.scope.cancel() }
    }
}
