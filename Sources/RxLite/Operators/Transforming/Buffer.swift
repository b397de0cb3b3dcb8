extension Observable {
    /// The values in lists of `count`. Remaining values are delivered as a shorter list with the end, and
    /// dropped at an error.
    ///
    /// ```
    ///                  -1-2-3-4-5-|
    /// buffer(count: 2)
    ///                  ---A---B---(C|)     A = 1,2   B = 3,4   C = 5
    /// ```
    ///
    /// - Parameters:
    ///   - count: the number of values in a list; less than one counts as one.
    ///   - step: the number of values from the beginning of one list to the next. With less than `count` the
    ///     lists overlap, with more the values between them are skipped. Default: `count`.
    @inlinable
    public func buffer(count: Int, every step: Int? = nil) -> Observable<[Element], Failure> {
        lift { observer in CountBuffer(Swift.max(count, 1), Swift.max(step ?? count, 1), into: observer).input
        }
    }

    /// The values of each interval of `time` in one list, which may be empty. Remaining values are delivered
    /// with the end, and dropped at an error.
    ///
    /// ```
    ///                    -1-2-----3-|
    /// buffer(time: 4 ms)
    ///                    ----A---B--(C|)     A = 1,2   B = none   C = 3
    /// ```
    ///
    /// - Parameter scheduler: the clock. Default: the stream's scheduler, otherwise ``ActorScheduler/shared``.
    @inlinable
    public func buffer(
        time: Duration, on scheduler: (any Scheduler)? = nil
    ) -> Observable<[Element], Failure> {
        buffer(count: .max, time: time, on: scheduler)
    }

    /// The values in lists that close after `time`, empty or not, or when they have `count` values; the next
    /// list begins then. Remaining values are delivered with the end, and dropped at an error.
    ///
    /// ```
    ///                              -123-----4-|
    /// buffer(count: 2, time: 4 ms)
    ///                              --A---B---C(D|)     A = 1,2   B = 3   C = 4   D = none
    /// ```
    ///
    /// - Parameters:
    ///   - count: the number of values in a list; less than one counts as one.
    ///   - time: how long a list stays open.
    ///   - scheduler: the clock. Default: the stream's scheduler, otherwise ``ActorScheduler/shared``.
    @inlinable
    public func buffer(
        count: Int, time: Duration, on scheduler: (any Scheduler)? = nil
    ) -> Observable<[Element], Failure> {
        let clock = scheduler ?? self.scheduler ?? ActorScheduler.shared
        return lift { observer in TimeBuffer(Swift.max(count, 1), time, clock, into: observer).input }
    }
}

/// The state of one buffer by count.
@usableFromInline
final class CountBuffer<Element: Sendable, Failure: Error>: @unchecked Sendable {
    // Unchecked: runs only inside the subscription's lane, which is serial.
    @usableFromInline let count: Int
    @usableFromInline let step: Int
    @usableFromInline let observer: Observer<[Element], Failure>
    @usableFromInline let scope: Scope
    /// The oldest, and therefore longest, list first.
    @usableFromInline var lists: [[Element]] = []
    /// The number of values until the next list begins.
    @usableFromInline var skipping = 0
    @usableFromInline var isSendingRest = false

    @inlinable
    init(_ count: Int, _ step: Int, into observer: Observer<[Element], Failure>) {
        self.count = count
        self.step = step
        self.observer = observer
        scope = observer.scope.child()
    }

    @inlinable var input: Observer<Element, Failure> {
        observer.scope.onClose { self.lists = [] }
        return Observer(scope: scope, next: { self.append($0) }, end: { self.receiveEnd($0) })
    }

    @inlinable
    func append(_ value: Element) {
        if skipping == 0 {
            lists.append([])
            skipping = step
        }
        skipping -= 1
        for index in lists.indices { lists[index].append(value) }
        if let first = lists.first, first.count == count {
            lists.removeFirst()
            observer.next(first)
        }
    }

    @inlinable
    func receiveEnd(_ completion: Completion<Failure>) {
        scope.close()
        guard case .finished = completion else { return observer.end(completion) }
        observer.scope.onResume { self.sendRest() }
        sendRest()
    }

    /// Sends the remaining lists while the subscriber takes them, and the end after the last.
    @usableFromInline
    func sendRest() {
        guard !isSendingRest else { return }
        isSendingRest = true
        while observer.scope.isOpen, !lists.isEmpty {
            guard !observer.scope.isPaused else { return isSendingRest = false }
            observer.next(lists.removeFirst())
        }
        if observer.scope.isOpen { observer.finish() }
    }
}

/// The state of one buffer by time.
@usableFromInline
final class TimeBuffer<Element: Sendable, Failure: Error>: @unchecked Sendable {
    // Unchecked: runs only inside the subscription's lane, which is serial.
    @usableFromInline let count: Int
    @usableFromInline let time: Duration
    @usableFromInline let timer: OperatorTimer
    @usableFromInline let observer: Observer<[Element], Failure>
    @usableFromInline let scope: Scope
    @usableFromInline var list: [Element] = []

    @inlinable
    init(_ count: Int, _ time: Duration, _ clock: any Scheduler, into observer: Observer<[Element], Failure>)
    {
        self.count = count
        self.time = time
        self.observer = observer
        scope = observer.scope.child()
        timer = OperatorTimer(clock, in: scope)
    }

    @inlinable var input: Observer<Element, Failure> {
        observer.scope.onClose { self.list = [] }
        begin()
        return Observer(
            scope: scope,
            next: { value in
                self.list.append(value)
                if self.list.count == self.count { self.deliverAndBegin() }
            },
            end: { completion in
                self.scope.close()
                if case .finished = completion { self.deliver() }
                if self.observer.scope.isOpen { self.observer.end(completion) }
            })
    }

    @inlinable
    func begin() {
        timer.set(after: time) { self.deliverAndBegin() }
    }

    @inlinable
    func deliverAndBegin() {
        timer.cancel()
        deliver()
        begin()
    }

    @inlinable
    func deliver() {
        let full = list
        list = []
        observer.next(full)
    }
}

extension Observable {
    /// The values in lists. Each value of `notifier` closes a list, empty or not, and begins the next.
    /// Remaining values are delivered with the end, and dropped at an error. An end of `notifier` changes
    /// nothing; its error ends the stream.
    ///
    /// ```
    ///             -1-2-----3-|
    /// buffer(by:  ----x---x--)
    ///             ----A---B--(C|)     A = 1,2   B = none   C = 3
    /// ```
    ///
    /// ```swift
    /// changes.buffer(by: save)
    /// ```
    ///
    /// The source is started first. A source that sends and ends at once makes a single list.
    @inlinable
    public func buffer<Notice>(
        by notifier: Observable<Notice, Failure>
    ) -> Observable<[Element], Failure> {
        Observable<[Element], Failure>(scheduler: scheduler) { [source] observer in
            let list = LaneState<[Element]>([], in: observer.scope.lane)
            let scope = observer.scope.child()
            observer.scope.onClose { list.value = [] }
            @Sendable func deliver() {
                let full = list.value
                list.value = []
                observer.next(full)
            }
            source(
                Observer(
                    scope: scope.child(), next: { list.value.append($0) },
                    end: { completion in
                        scope.close()
                        if case .finished = completion { deliver() }
                        if observer.scope.isOpen { observer.end(completion) }
                    }))
            guard scope.isOpen else { return }
            notifier.notify(observer, in: scope) { _, _ in deliver() }
        }
    }

    /// The values in lists that a signal, or another stream that cannot fail, closes.
    @inlinable
    @_disfavoredOverload
    public func buffer<Notifier: ObservableConvertible>(
        by notifier: Notifier
    ) -> Observable<[Element], Failure> where Notifier.Failure == Never {
        buffer(by: notifier.observable.setFailureType())
    }
}
