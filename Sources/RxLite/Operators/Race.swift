extension Observable {
    /// The stream that is the first to send a value or an end; the others are cancelled before that event is
    /// delivered.
    ///
    /// ```
    ///      ----1--2--|
    ///      --a----b----c--|
    /// race
    ///      --a----b----c--|
    /// ```
    ///
    /// Streams listed after one that sends at once are not started.
    @inlinable
    public static func race(_ streams: Observable...) -> Observable {
        race(streams)
    }

    /// The stream that is the first to send a value or an end; the others are cancelled before that event is
    /// delivered. Without streams it never ends.
    @inlinable
    public static func race(_ streams: [Observable]) -> Observable {
        Observable(scheduler: commonScheduler(of: streams)) { observer in
            Race(into: observer).start(streams)
        }
    }
}

/// The state of one race.
@usableFromInline
final class Race<Element: Sendable, Failure: Error>: @unchecked Sendable {
    // Unchecked: runs only inside the subscription's lane, which is serial.
    @usableFromInline let observer: Observer<Element, Failure>
    @usableFromInline var runners: [Scope] = []

    @inlinable
    init(into observer: Observer<Element, Failure>) {
        self.observer = observer
    }

    @inlinable
    func start(_ streams: [Observable<Element, Failure>]) {
        runners = streams.map { _ in observer.scope.child() }
        observer.scope.onClose { self.runners = [] }
        for (scope, stream) in zip(runners, streams) where scope.isOpen {
            stream.subscribe(
                Observer(
                    scope: scope,
                    next: { value in
                        self.stopOthers(than: scope)
                        self.observer.next(value)
                    },
                    end: { completion in
                        self.stopOthers(than: scope)
                        scope.close()
                        self.observer.end(completion)
                    }))
        }
    }

    /// Does nothing once there is a winner.
    @inlinable
    func stopOthers(than winner: Scope) {
        guard !runners.isEmpty else { return }
        let losers = runners
        runners = []
        for scope in losers where scope !== winner { scope.close() }
    }
}
