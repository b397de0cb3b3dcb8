public import RxLite
import Synchronization

/// Subscribes to a stream and records all its events with their virtual times.
///
/// ```swift
/// let recorder = Recorder(goods.map { $0 * 10 }, on: clock)
/// try clock.run()
/// try recorder.expect("--a--b|", values: ["a": 10, "b": 20])
/// ```
///
/// Times count from the creation of the recorder.
public final class Recorder<Element: Sendable, Failure: Error>: Sendable {
    private struct Contents {
        var events: [MarbleEvent<Element, Failure>] = []
        var subscription: Subscription?
        var span: SubscriptionSpan?
    }

    private let clock: VirtualScheduler
    private let origin: Duration
    private let contents = Mutex(Contents())

    /// Subscribes, now or within `span` (see ``SubscriptionSpan/init(_:frame:)``).
    public init(
        _ stream: Observable<Element, Failure>, on clock: VirtualScheduler, span: SubscriptionSpan? = nil
    ) {
        self.clock = clock
        origin = clock.now
        let span = span ?? SubscriptionSpan(start: .zero)
        let length = span.end.map { $0 - span.start }
        if span.start > .zero {
            _ = clock.schedule(after: span.start) { self.subscribe(to: stream, for: length) }
        } else {
            subscribe(to: stream, for: length)
        }
    }

    /// All events so far.
    public var events: [MarbleEvent<Element, Failure>] { contents.withLock { $0.events } }

    /// The values so far.
    public var values: [Element] {
        events.compactMap { if case .next(let value) = $0.kind { value } else { nil } }
    }

    /// The end, if there was one.
    public var completion: Completion<Failure>? {
        events.lazy.compactMap { if case .end(let completion) = $0.kind { completion } else { nil } }.first
    }

    /// The error the stream ended with, if it failed.
    public var failure: Failure? {
        if case .failed(let error) = completion { error } else { nil }
    }

    /// Whether the stream finished. `false` while it runs, and after a failure.
    public var isFinished: Bool {
        if case .finished = completion { true } else { false }
    }

    /// The time span of the recorder's subscription.
    public var span: SubscriptionSpan? { contents.withLock { $0.span } }

    /// Cancels the subscription, if it has begun.
    public func cancel() { subscription?.cancel() }

    /// Pauses the stream.
    public func pause() { subscription?.pause() }

    /// Undoes one ``pause()``.
    public func resume() { subscription?.resume() }

    private var subscription: Subscription? { contents.withLock { $0.subscription } }

    private func subscribe(to stream: Observable<Element, Failure>, for length: Duration?) {
        let start = clock.now - origin
        contents.withLock { $0.span = SubscriptionSpan(start: start) }
        let timer = length.map { clock.schedule(after: $0) { self.cancel() } }
        let subscription = stream.handleEvents(onCancel: { self.close() }).observe(
            onNext: { self.record(.next($0)) },
            onEnd: { completion in
                timer?.cancel()
                self.record(.end(completion))
                self.close()
            })
        contents.withLock { $0.subscription = subscription }
    }

    private func record(_ kind: StreamEvent<Element, Failure>) {
        let event = MarbleEvent(time: clock.now - origin, kind: kind)
        contents.withLock { $0.events.append(event) }
    }

    private func close() {
        let now = clock.now - origin
        contents.withLock { $0.span?.end = now }
    }
}

extension Recorder where Element: Equatable {
    /// The difference between the recording and a diagram; `nil` if there is none.
    ///
    /// For the notation see ``VirtualScheduler/cold(_:values:error:frame:)``. Errors are equal if they print
    /// the same.
    public func mismatch(
        with marbles: String, values: [Character: Element] = [:], error: Failure? = nil,
        frame: Duration = .milliseconds(1)
    ) throws(MarbleError) -> MarbleMismatch? {
        let expected = try MarbleEvent.events(of: marbles, values: values, error: error, frame: frame)
        return MarbleMismatch(expected: expected, actual: events, letters: values, frame: frame)
    }

    /// Throws a ``MarbleMismatch`` unless the recording matches the diagram exactly.
    public func expect(
        _ marbles: String, values: [Character: Element] = [:], error: Failure? = nil,
        frame: Duration = .milliseconds(1)
    ) throws {
        if let mismatch = try mismatch(with: marbles, values: values, error: error, frame: frame) {
            throw mismatch
        }
    }
}

/// One event of a stream and its virtual time.
public struct MarbleEvent<Element: Sendable, Failure: Error>: Sendable {
    /// The time of the event.
    public var time: Duration
    /// The value or the end.
    public var kind: StreamEvent<Element, Failure>

    /// Creates an event.
    public init(time: Duration, kind: StreamEvent<Element, Failure>) {
        self.time = time
        self.kind = kind
    }

    /// The events of a diagram. Letters without a value stand for themselves if `Element` is `String`.
    static func events(
        of text: String, values: [Character: Element], error: Failure?, frame: Duration
    ) throws(MarbleError) -> [MarbleEvent] {
        let marks = try MarbleParser.marks(of: text, frame: frame)
        let zero = marks.first { $0.mark == .subscription }?.time ?? .zero
        var events: [MarbleEvent] = []
        for mark in marks {
            func problem(_ problem: MarbleError.Problem) -> MarbleError {
                MarbleError(problem: problem, position: mark.position, text: text)
            }
            let time = mark.time - zero
            switch mark.mark {
            case .value(let letter):
                guard let value = values[letter] ?? String(letter) as? Element else {
                    throw problem(.noValue(letter))
                }
                events.append(MarbleEvent(time: time, kind: .next(value)))
            case .end:
                events.append(MarbleEvent(time: time, kind: .end(.finished)))
            case .error:
                guard let error else { throw problem(.noError) }
                events.append(MarbleEvent(time: time, kind: .end(.failed(error))))
            case .subscription: continue
            case .unsubscription: throw problem(.unexpected("!"))
            }
        }
        return events
    }
}

extension MarbleEvent {
    /// The time from subscription to the last frame of a diagram, including that frame.
    package static func duration(of marbles: String, frame: Duration) throws(MarbleError) -> Duration {
        // A mark at the end is where the time of the diagram has come to.
        let marks = try MarbleParser.marks(of: marbles + "!", frame: frame)
        let zero = marks.first { $0.mark == .subscription }?.time ?? .zero
        return (marks.last?.time ?? .zero) - zero
    }
}

extension Observable {
    /// Simulates a consumer that is slower than its source: takes a value, then pauses the stream for a time.
    ///
    /// The pause is measured by the clock. A source that can pause stops meanwhile.
    public func slowly(_ pause: Duration, on clock: VirtualScheduler) -> Observable {
        lift { observer in
            let scope = observer.scope.child()
            return Observer(
                scope: scope,
                next: { value in
                    observer.next(value)
                    scope.pause()
                    _ = clock.schedule(after: pause) { scope.enter { scope.resume() } }
                },
                end: { completion in
                    scope.close()
                    observer.end(completion)
                })
        }
    }
}
