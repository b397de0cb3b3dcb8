/// Reports the events of one subscription, signal or property to the ``StreamLog``.
///
/// Released with a signal or property, it reports the end of that.
@usableFromInline
final class StreamProbe<Element: Sendable>: @unchecked Sendable {
    // Unchecked: the variables are accessed only from inside the stream's lane, which is serial.

    private let track: StreamTrack
    /// The cause of what a value without a marble begins.
    private let unmarked: StreamCause
    private let showing: (@Sendable (Element) -> String)?
    private let log = StreamLog.shared
    /// The period of the log in which `left` values may still be recorded.
    private var slice = 0
    private var left = 0
    private var hasEnded = false

    init(_ track: StreamTrack, showing: (@Sendable (Element) -> String)?) {
        self.track = track
        // A stream that `flatMap` has started has no call of its own.
        let place = track.origin.kind == .inner ? StreamCause.current?.place ?? "" : track.origin.place
        unmarked = StreamCause(place: place)
        self.showing = showing
    }

    deinit { if !hasEnded { log.add(.released, of: track) } }

    /// Records the value, and runs `body`, which delivers it, with the marble as the cause of what it begins; without a
    /// marble, with the place of the stream.
    @usableFromInline
    func deliver(_ value: Element, _ body: () -> Void) {
        guard let marble = record(value) else { return StreamCause.locate(unmarked, body) }
        let cause = StreamCause(track: track.id, marble: marble, parent: track.id, place: unmarked.place)
        StreamCause.$current.withValue(cause) { body() }
    }

    /// Records the value, or only counts it. Returns the number of its marble if it is recorded.
    func record(_ value: Element) -> Int? {
        track.countValue()
        let current = log.slice
        guard current != 0 else { return nil }
        if slice != current { (slice, left) = (current, StreamLog.trackLimit) }
        guard left > 0 else { return nil }
        left -= 1
        return log.take(track) {
            (showing.map { $0(value) } ?? ShortText.of(value), (value as? any InspectedValue)?.inspectedPages)
        }
    }

    /// Records the end of the stream. Does nothing after another end.
    func end(_ kind: StreamRecord.Kind) {
        guard !hasEnded else { return }
        hasEnded = true
        log.add(kind, of: track)
    }

    func note(isPaused: Bool) {
        guard track.isPaused != isPaused else { return }
        track.note(isPaused: isPaused)
        log.add(isPaused ? .paused : .resumed, of: track)
    }

    /// An observer for the source, in a scope that reports a cancel and pauses.
    func observer<Failure: Error>(into observer: Observer<Element, Failure>) -> Observer<Element, Failure> {
        let scope = observer.scope.child()
        scope.onClose { self.end(.cancelled) }
        scope.onPause { self.note(isPaused: true) }
        scope.onResume { self.note(isPaused: false) }
        if scope.isPaused { note(isPaused: true) }
        return Observer(
            scope: scope,
            next: { value in self.deliver(value) { observer.next(value) } },
            end: { completion in
                switch completion {
                case .finished: self.end(.finished)
                case .failed(let error): self.end(.failed(ShortText.of(error)))
                }
                scope.close()
                observer.end(completion)
            })
    }

    /// The cause of what the subscription to the source begins.
    func cause(after cause: StreamCause?) -> StreamCause {
        StreamCause(
            track: track.id, marble: cause?.marble ?? 0, parent: track.parent,
            inner: track.origin.kind == .inner ? track.id : 0, place: unmarked.place)
    }
}
