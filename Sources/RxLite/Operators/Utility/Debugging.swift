import Synchronization

extension Observable {
    /// Calls closures for events; the events are unchanged.
    ///
    /// ```
    ///                        --1--2--|
    /// handleEvents(onNext: …)
    ///                        --1--2--|     called with 1, with 2
    /// ```
    ///
    /// - Parameters:
    ///   - onSubscribe: called before the source starts.
    ///   - onNext: called before each value is passed on.
    ///   - onEnd: called before the end is passed on.
    ///   - onCancel: called if the stream is cancelled before its end.
    @inlinable
    public func handleEvents(
        onSubscribe: @escaping @Sendable () -> Void = {},
        onNext: @escaping @Sendable (Element) -> Void = { _ in },
        onEnd: @escaping @Sendable (Completion<Failure>) -> Void = { _ in },
        onCancel: @escaping @Sendable () -> Void = {}
    ) -> Observable {
        lift { observer in
            let hasEnded = LaneState(false, in: observer.scope.lane)
            let scope = observer.scope.child()
            scope.onClose { if !hasEnded.value { onCancel() } }
            onSubscribe()
            return Observer(
                scope: scope, target: Downstream(observer),
                receive: { value, link in
                    onNext(value)
                    unsafe unsafeDowncast(link, to: Downstream<Element, Failure>.self).observer.next(value)
                },
                end: { completion in
                    // Before the scope closes, which otherwise counts as a cancel.
                    hasEnded.value = true
                    scope.close()
                    onEnd(completion)
                    observer.end(completion)
                })
        }
    }
}

extension Observable {
    /// Runs `action` once for each subscription: after its end has been delivered, or when it is cancelled.
    ///
    /// ```
    ///                    --1--2--|
    /// finally { action }
    ///                    --1--2--|action
    /// ```
    ///
    /// An operator below that continues after the end (`catch`, `retry`, `concat` …) closes the ended stream
    /// before it starts another; `action` runs then. Of several such actions, the one nearest to the source
    /// runs first; teardowns of the source itself run before them all.
    ///
    /// ```swift
    /// upload.finally { progressBar.hide() }
    /// ```
    @inlinable
    public func finally(_ action: @escaping @Sendable () -> Void) -> Observable {
        lift { observer in
            observer.scope.onClose(action)
            return observer
        }
    }
}

extension Observable {
    /// Prints one line for each event, with time, label, number of the subscription and count; the events are
    /// unchanged.
    ///
    /// ```
    ///              --1--2--|
    /// debug("tea")
    ///              --1--2--|     four lines, with "subscribed"
    /// ```
    ///
    /// ```
    /// 0.000 s  tea #1 subscribed
    /// 0.124 s  tea #1 value 1: Oolong
    /// 0.310 s  tea #1 failed after 1 value: timed out
    /// ```
    ///
    /// Subscriptions count from 1, separately for each call of `debug`. A line break in a value or an error
    /// is written as `\n`.
    ///
    /// - Parameters:
    ///   - label: the beginning of the text of each line.
    ///   - scheduler: the clock. Default: the stream's scheduler, otherwise ``ActorScheduler/shared``.
    ///   - sink: receives the lines, wherever the events arrive. Default: prints them.
    public func debug(
        _ label: String, on scheduler: (any Scheduler)? = nil,
        to sink: @escaping @Sendable (String) -> Void = { print($0) }
    ) -> Observable {
        let clock = scheduler ?? self.scheduler ?? ActorScheduler.shared
        let subscriptions = SubscriptionCount()
        return Observable(scheduler: self.scheduler) { observer in
            let name = "\(label) #\(subscriptions.next())"
            let count = LaneState(0, in: observer.scope.lane)
            let log: @Sendable (String) -> Void = { event in
                sink("\(seconds(clock.now)) s  \(name) \(event.onOneLine)")
            }
            self.handleEvents(
                onSubscribe: { log("subscribed") },
                onNext: { value in
                    count.value += 1
                    log("value \(count.value): \(value)")
                },
                onEnd: { completion in
                    switch completion {
                    case .finished: log("finished after \(counted(count.value))")
                    case .failed(let error): log("failed after \(counted(count.value)): \(error)")
                    }
                },
                onCancel: { log("cancelled after \(counted(count.value))") }
            ).subscribe(observer)
        }
    }
}

private func counted(_ count: Int) -> String { count == 1 ? "1 value" : "\(count) values" }

/// The seconds, with three decimals.
private func seconds(_ time: Duration) -> String {
    let (seconds, attoseconds) = time.components
    let thousandths = attoseconds / 1_000_000_000_000_000
    return "\(seconds).\(String(1000 + thousandths).dropFirst())"
}

extension String {
    fileprivate var onOneLine: String {
        contains(where: \.isNewline)
            ? String(flatMap { $0.isNewline ? "\\n" : String($0) }) : self
    }
}

/// Numbers the subscriptions of one stream, which several threads may make.
final class SubscriptionCount: Sendable {
    private let count = Atomic<Int>(0)

    func next() -> Int { count.add(1, ordering: .relaxed).newValue }
}

extension Observable {
    /// Shows each subscription of this stream on the inspector's page, as a line of marbles with this name; the events
    /// are unchanged.
    ///
    /// ```
    ///                    --1--2--|
    /// inspected("tea")
    ///                    --1--2--|     and on the page: tea #1  --①--②--|
    /// ```
    ///
    /// ```swift
    /// query.inspected("search")
    ///     .flatMap(.latest) { client.get("/search", query: ["q": $0]) }
    /// ```
    ///
    /// The streams that `flatMap` starts for the values of a named stream have separate lines below it, if no operator
    /// in between changes the scheduler or waits. So does every request that a value leads to.
    ///
    /// Without an inspector in the process, a subscription costs one atomic load and its values cost nothing.
    /// Subscriptions from before the inspector's start are not shown. When values arrive faster than they can be shown,
    /// the page shows some of them and the total number.
    ///
    /// - Parameters:
    ///   - name: the name of the line; the number of the subscription follows it.
    ///   - showing: the text of a value. Default: its description. Values reach the page unredacted, so a stream of
    ///     secrets needs a text without them. At most 400 characters are shown.
    ///   - fileID: the source file that the page shows.
    ///   - line: the line in it.
    public func inspected(
        _ name: String, showing: (@Sendable (Element) -> String)? = nil,
        fileID: StaticString = #fileID, line: UInt = #line
    ) -> Observable {
        let subscriptions = SubscriptionCount()
        return Observable(scheduler: scheduler) { [source] observer in
            guard StreamLog.isAttached else { return source(observer) }
            let origin = StreamTrack.Origin(
                name: name, kind: .stream, number: subscriptions.next(), element: "\(Element.self)",
                location: "\(fileID):\(line)")
            Self.start(source, origin, showing, into: observer)
        }
    }

    /// This stream as an inner one of `flatMap`, which has a track if it begins within the delivery of a marble.
    @usableFromInline
    func inspectedAsInner() -> Observable {
        guard let cause = StreamCause.current, cause.marble > 0 else { return self }
        // In the lane of `flatMap`, also if this stream has a scheduler, so that a cancel is seen at once.
        return Observable(scheduler: nil) { observer in
            // Without a location: the page shows none, and requests get that of the outer stream (``StreamProbe``).
            let origin = StreamTrack.Origin(
                name: "flatMap", kind: .inner, element: "\(Element.self)", location: "")
            StreamCause.restore(cause) { Self.start({ self.subscribe($0) }, origin, nil, into: observer) }
        }
    }

    private static func start(
        _ source: @Sendable (Observer<Element, Failure>) -> Void, _ origin: StreamTrack.Origin,
        _ showing: (@Sendable (Element) -> String)?, into observer: Observer<Element, Failure>
    ) {
        guard let track = StreamLog.shared.begin(origin) else {
            // The requests of a stream without a line still have their location in the code.
            return StreamCause.locate(StreamCause(location: origin.location)) { source(observer) }
        }
        let probe = StreamProbe(track, showing: showing)
        let cause = probe.cause(after: StreamCause.current)
        StreamCause.restore(cause) { source(probe.observer(into: observer)) }
    }
}
