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

    private func record(_ kind: MarbleEvent<Element, Failure>.Kind) {
        let event = MarbleEvent(time: clock.now - origin, kind: kind)
        contents.withLock { $0.events.append(event) }
    }

    private func close() {
        let now = clock.now - origin
        contents.withLock { $0.span?.end = now }
    }
}
