extension Observable {
    /// The values of all `streams` as they arrive; ends when all have ended, or with the first error.
    ///
    /// ```
    ///       --1-----3--|
    ///       ----2------4--|
    /// merge
    ///       --1-2---3--4--|
    /// ```
    @inlinable
    public static func merge(_ streams: Observable...) -> Observable {
        merge(streams)
    }

    /// The values of all `streams` as they arrive; ends when all have ended, or with the first error.
    @inlinable
    public static func merge(_ streams: [Observable]) -> Observable {
        Observable<Observable, Failure>(scheduler: commonScheduler(of: streams)) { observer in
            Observable<Observable, Failure>.sequence(streams).subscribe(observer)
        }
        .flatMap { $0 }
    }

    /// These values and those of `other`, as they arrive.
    @inlinable
    public func merge(with other: Observable) -> Observable {
        .merge([self, other])
    }
}

extension Observable {
    /// The values of a stream that cannot fail and of one that can, as they arrive.
    @inlinable
    @_disfavoredOverload
    public static func merge<Other: ObservableConvertible>(
        _ one: Other, _ other: Observable
    ) -> Observable where Other.Element == Element, Other.Failure == Never {
        merge(one.observable.setFailureType(to: Failure.self), other)
    }

    /// The values of a stream that can fail and of one that cannot, as they arrive.
    @inlinable
    @_disfavoredOverload
    public static func merge<Other: ObservableConvertible>(
        _ one: Observable, _ other: Other
    ) -> Observable where Other.Element == Element, Other.Failure == Never {
        merge(one, other.observable.setFailureType(to: Failure.self))
    }

    /// These values and those of a stream that cannot fail, as they arrive.
    @inlinable
    @_disfavoredOverload
    public func merge<Other: ObservableConvertible>(
        with other: Other
    ) -> Observable where Other.Element == Element, Other.Failure == Never {
        .merge(self, other.observable.setFailureType(to: Failure.self))
    }
}

extension Observable where Failure == Never {
    /// These values and those of a stream that can fail, as they arrive.
    @inlinable
    @_disfavoredOverload
    public func merge<E>(with other: Observable<Element, E>) -> Observable<Element, E> {
        .merge(setFailureType(to: E.self), other)
    }

    /// The values of signals, properties and other streams that cannot fail, as they arrive.
    @inlinable
    @_disfavoredOverload
    public static func merge(_ streams: any ObservableConvertible<Element, Never>...) -> Observable {
        merge(streams.map { $0.observable })
    }
}

extension Observable {
    /// One stream after another, each started when the one before has finished.
    ///
    /// ```
    ///        --1--2|
    ///              -3--4|
    /// concat
    ///        --1--2-3--4|
    /// ```
    @inlinable
    public static func concat(_ streams: [Observable]) -> Observable {
        Observable<Observable, Failure>(scheduler: commonScheduler(of: streams)) { observer in
            Observable<Observable, Failure>.sequence(streams).subscribe(observer)
        }
        .flatMap(.concat) { $0 }
    }

    /// The scheduler of a combination of `streams`: that of the first stream that has one.
    @usableFromInline
    static func commonScheduler(of streams: [Observable]) -> (any Scheduler)? {
        streams.lazy.compactMap(\.scheduler).first
    }
}

extension Observable {
    /// `values` first, then those of the source.
    ///
    /// ```
    ///                 ------3--4--|
    /// startWith(1, 2)
    ///                 (12)--3--4--|
    /// ```
    @inlinable
    public func startWith(_ values: Element...) -> Observable {
        .concat([.sequence(values), self])
    }
}

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
