public import RxLite
import Synchronization

/// A stream that sends the events of a diagram, and records the time span of each subscription. Made by
/// ``VirtualScheduler/cold(_:values:error:frame:)`` and ``VirtualScheduler/hot(_:values:error:frame:)``.
public final class MarbleSource<Element: Sendable, Failure: Error>: Sendable {
    private struct Contents {
        var spans: [SubscriptionSpan] = []
        /// The observers of a hot source, by the index of their span.
        var listeners: [Int: Observer<Element, Failure>] = [:]
        var completion: Completion<Failure>?
    }

    private let clock: VirtualScheduler
    private let origin: Duration
    private let events: [MarbleEvent<Element, Failure>]
    private let isHot: Bool
    private let contents = Mutex(Contents())

    init(_ events: [MarbleEvent<Element, Failure>], on clock: VirtualScheduler, isHot: Bool) {
        self.clock = clock
        self.isHot = isHot
        origin = clock.now
        self.events = events.filter { $0.time >= .zero }
        guard isHot else { return }
        for event in self.events {
            _ = clock.schedule(after: event.time) { self.broadcast(event.kind) }
        }
    }

    /// The stream, on the virtual scheduler. A cold source starts again for each subscriber.
    public var observable: Observable<Element, Failure> {
        Observable(scheduler: clock) { observer in
            guard observer.scope.isOpen else { return }
            if self.isHot { self.listen(observer) } else { self.play(to: observer) }
        }
    }

    /// The time span of each subscription, in virtual time since the source was created.
    public var subscriptions: [SubscriptionSpan] { contents.withLock { $0.spans } }

    private func play(to observer: Observer<Element, Failure>) {
        // Each event is a separate piece of work, as in RxJS: the effects of one are complete before the next
        // one of the same instant.
        let timers = events.map { event in
            clock.schedule(after: event.time) { observer.scope.enter { Self.send(event.kind, to: observer) } }
        }
        let index = open()
        observer.scope.onClose {
            for timer in timers { timer.cancel() }
            self.close(index)
        }
    }

    private func listen(_ observer: Observer<Element, Failure>) {
        let index = open()
        observer.scope.onClose { self.close(index) }
        let completion = contents.withLock { contents in
            if contents.completion == nil { contents.listeners[index] = observer }
            return contents.completion
        }
        if let completion { observer.scope.perform { observer.end(completion) } }
    }

    private func broadcast(_ kind: StreamEvent<Element, Failure>) {
        let listeners = contents.withLock { contents in
            if case .end(let completion) = kind { contents.completion = completion }
            return contents.listeners.sorted { $0.key < $1.key }.map(\.value)
        }
        for observer in listeners { observer.scope.enter { Self.send(kind, to: observer) } }
    }

    private static func send(
        _ kind: StreamEvent<Element, Failure>, to observer: Observer<Element, Failure>
    ) {
        guard observer.scope.isOpen else { return }
        switch kind {
        case .next(let value): observer.next(value)
        case .end(let completion): observer.end(completion)
        }
    }

    private func open() -> Int {
        let now = clock.now - origin
        return contents.withLock { contents in
            contents.spans.append(SubscriptionSpan(start: now))
            return contents.spans.count - 1
        }
    }

    private func close(_ index: Int) {
        let now = clock.now - origin
        // Released here, outside the lock.
        let listener = contents.withLock { contents in
            contents.spans[index].end = now
            return contents.listeners.removeValue(forKey: index)
        }
        _ = listener
    }
}

extension VirtualScheduler {
    /// A source that starts again for each subscriber: time zero of the diagram is the time of the
    /// subscription.
    ///
    /// The notation is that of RxJS. `-` is one frame of time. A letter or digit is a value, `|` the end, `#`
    /// an error, and each takes one frame. Events in parentheses happen at the instant of the opening
    /// parenthesis, and take as many frames as characters. `10ms`, `1s`, `2m` between spaces are time; other
    /// spaces are ignored.
    ///
    /// ```swift
    /// let goods: MarbleSource<Int, Never> = try clock.cold("--a--(bc|)", values: ["a": 1, "b": 2, "c": 3])
    /// ```
    ///
    /// - Parameters:
    ///   - marbles: the diagram.
    ///   - values: the values of the letters. Letters without a value stand for themselves if `Element` is
    ///     `String`.
    ///   - error: the error of `#`.
    ///   - frame: the time of one character. Default 1 ms.
    public func cold<Element: Sendable, Failure: Error>(
        _ marbles: String, values: [Character: Element] = [:], error: Failure? = nil,
        frame: Duration = .milliseconds(1)
    ) throws(MarbleError) -> MarbleSource<Element, Failure> {
        // `exports.js` in the page of RxInspector writes calls of this function as text.
        let events = try MarbleEvent.events(of: marbles, values: values, error: error, frame: frame)
        return MarbleSource(events, on: self, isHot: false)
    }

    /// A source that runs with or without subscribers. Its time begins now, at `^` if there is one; earlier
    /// events are skipped.
    ///
    /// For the notation and the parameters see ``cold(_:values:error:frame:)``.
    public func hot<Element: Sendable, Failure: Error>(
        _ marbles: String, values: [Character: Element] = [:], error: Failure? = nil,
        frame: Duration = .milliseconds(1)
    ) throws(MarbleError) -> MarbleSource<Element, Failure> {
        let events = try MarbleEvent.events(of: marbles, values: values, error: error, frame: frame)
        return MarbleSource(events, on: self, isHot: true)
    }

    /// A source that starts again for each subscriber, made from events, for anything that a diagram cannot
    /// express.
    ///
    /// - Parameter events: the events in order, with the times since the subscription. Events before zero are
    ///   omitted, and none may follow an end.
    public func cold<Element: Sendable, Failure: Error>(
        _ events: [MarbleEvent<Element, Failure>]
    ) -> MarbleSource<Element, Failure> {
        MarbleSource(events, on: self, isHot: false)
    }

    /// A source that runs with or without subscribers, from its events. Its time begins now.
    ///
    /// - Parameter events: the events in order, with the times since now. Events before zero are omitted, and
    ///   none may follow an end.
    public func hot<Element: Sendable, Failure: Error>(
        _ events: [MarbleEvent<Element, Failure>]
    ) -> MarbleSource<Element, Failure> {
        MarbleSource(events, on: self, isHot: true)
    }
}

/// The time span of a subscription.
///
/// In a diagram `^` is the beginning, and `!` the end, by a cancel or by the end of the stream.
public struct SubscriptionSpan: Sendable, Equatable, CustomStringConvertible {
    /// When it began.
    public var start: Duration
    /// When it ended; `nil` while it lasts.
    public var end: Duration?

    /// Creates a span.
    public init(start: Duration, end: Duration? = nil) {
        self.start = start
        self.end = end
    }

    /// Reads a span such as `--^---!`. Without `^` it begins at zero, without `!` it does not end.
    ///
    /// - Throws: if the text contains anything except `^`, `!` and time.
    public init(_ marbles: String, frame: Duration = .milliseconds(1)) throws(MarbleError) {
        self.init(start: .zero)
        for mark in try MarbleParser.marks(of: marbles, frame: frame) {
            switch mark.mark {
            case .subscription: start = mark.time
            case .unsubscription: end = mark.time
            case .value(let letter):
                throw MarbleError(problem: .unexpected(letter), position: mark.position, text: marbles)
            case .end, .error:
                let character: Character = mark.mark == .end ? "|" : "#"
                throw MarbleError(problem: .unexpected(character), position: mark.position, text: marbles)
            }
        }
    }

    /// Both times.
    public var description: String { "\(start) to \(end.map { "\($0)" } ?? "…")" }
}
