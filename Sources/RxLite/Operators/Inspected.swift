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
    /// The streams that `flatMap` starts for the values of a named stream have lines of their own, below it, if no
    /// operator in between changes the scheduler or waits. So has every request that a value leads to.
    ///
    /// Without an inspector in the process, a subscription costs one atomic load and its values cost nothing.
    /// Subscriptions from before the inspector's start are not shown. When values come faster than they can be shown,
    /// the page shows some of them and the number of all.
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
                place: "\(fileID):\(line)")
            Self.start(source, origin, showing, into: observer)
        }
    }

    /// This stream as an inner one of `flatMap`, which has a track if it begins within the delivery of a marble.
    @usableFromInline
    func inspectedAsInner() -> Observable {
        guard let cause = StreamCause.current, cause.marble > 0 else { return self }
        // In the lane of `flatMap`, also if this stream has a scheduler, so that a cancel is seen at once.
        return Observable(scheduler: nil) { observer in
            let origin = StreamTrack.Origin(
                name: "flatMap", kind: .inner, element: "\(Element.self)", place: "")
            StreamCause.restore(cause) { Self.start({ self.subscribe($0) }, origin, nil, into: observer) }
        }
    }

    private static func start(
        _ source: @Sendable (Observer<Element, Failure>) -> Void, _ origin: StreamTrack.Origin,
        _ showing: (@Sendable (Element) -> String)?, into observer: Observer<Element, Failure>
    ) {
        guard let track = StreamLog.shared.begin(origin) else {
            // The requests of a stream without a line still have their place in the code.
            return StreamCause.locate(StreamCause(place: origin.place)) { source(observer) }
        }
        let probe = StreamProbe(track, showing: showing)
        let cause = probe.cause(after: StreamCause.current)
        StreamCause.restore(cause) { source(probe.observer(into: observer)) }
    }
}
