import Synchronization

/// One subscription of an inspected stream, or one inspected signal or property: a line of marbles.
package final class StreamTrack: Sendable {
    /// The kinds of sources that a track shows. The scripts and the style sheet of the inspector's page read the names
    /// of the cases.
    package enum Kind: String, Sendable {
        /// A subscription of a named stream.
        case stream
        /// A subscription that `flatMap` made for a value of a named stream.
        case inner
        /// A signal.
        case signal
        /// A property, whose first marble is its value at that time.
        case property
    }

    /// What a track shows, which the caller of `inspected` determines.
    package struct Origin: Sendable {
        package var name: String
        package var kind: Kind
        /// The number of the subscription among those of the same call of `inspected`, from 1.
        package var number = 1
        /// The type of the values. `exports.js` of the page recognizes numbers and texts by it.
        package var element: String
        /// The source file and line of the call, as `Module/File.swift:12`; `TrafficInbox` splits it at the colon.
        package var location: String
    }

    /// Distinguishes the tracks of the process, from 1.
    package let id: Int
    package let origin: Origin
    /// The track above this one, or 0.
    package let parent: Int
    /// The marble that led to the subscription, or 0.
    package let marble: Int
    /// The unnamed track of the same subscription, or 0. Then this track replaces it.
    package let inner: Int
    /// The time of the subscription, on the log's clock.
    package let begun: Duration

    private let received = Atomic<Int>(0)
    private let paused = Atomic<Bool>(false)
    private let currentText: @Sendable () -> String?

    init(
        id: Int, _ origin: Origin, because cause: StreamCause?, at time: Duration,
        currentText: @escaping @Sendable () -> String? = { nil }
    ) {
        self.id = id
        self.origin = origin
        parent = cause?.parent ?? 0
        marble = cause?.marble ?? 0
        inner = cause?.inner ?? 0
        begun = time
        self.currentText = currentText
    }

    /// The number of values so far, shown or not.
    package var count: Int { received.load(ordering: .relaxed) }

    /// Whether the subscriber has paused the stream.
    package var isPaused: Bool { paused.load(ordering: .relaxed) }

    /// The text of a property's current value.
    package var current: String? { currentText() }

    /// Counts a value. Only from inside the stream's lane, which is serial; others only read.
    func countValue() { received.store(count + 1, ordering: .relaxed) }

    func record(isPaused: Bool) { paused.store(isPaused, ordering: .relaxed) }
}

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
    private var period = 0
    private var left = 0
    private var hasEnded = false

    init(_ track: StreamTrack, showing: (@Sendable (Element) -> String)?) {
        self.track = track
        // A stream that `flatMap` has started has no separate call.
        let location =
            track.origin.kind == .inner ? StreamCause.current?.location ?? "" : track.origin.location
        unmarked = StreamCause(location: location)
        self.showing = showing
    }

    deinit { if !hasEnded { log.add(.released, of: track) } }

    /// Records the value, and runs `body`, which delivers it, with the marble as the cause of what it begins; without a
    /// marble, with the location of the stream.
    @usableFromInline
    func deliver(_ value: Element, _ body: () -> Void) {
        guard let marble = record(value) else { return StreamCause.locate(unmarked, body) }
        let cause = StreamCause(
            track: track.id, marble: marble, parent: track.id, location: unmarked.location)
        StreamCause.$current.withValue(cause) { body() }
    }

    /// Records the value, or only counts it. Returns the number of its marble if it is recorded.
    func record(_ value: Element) -> Int? {
        track.countValue()
        let current = log.period
        guard current != 0 else { return nil }
        if period != current { (period, left) = (current, StreamLog.trackLimit) }
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

    func record(isPaused: Bool) {
        guard track.isPaused != isPaused else { return }
        track.record(isPaused: isPaused)
        log.add(isPaused ? .paused : .resumed, of: track)
    }

    /// An observer for the source, in a scope that reports a cancel and pauses.
    func observer<Failure: Error>(into observer: Observer<Element, Failure>) -> Observer<Element, Failure> {
        let scope = observer.scope.child()
        scope.onClose { self.end(.cancelled) }
        scope.onPause { self.record(isPaused: true) }
        scope.onResume { self.record(isPaused: false) }
        if scope.isPaused { record(isPaused: true) }
        return Observer(
            scope: scope,
            next: { value in self.deliver(value) { observer.next(value) } },
            end: { completion in
                // Before the scope closes, which reports a cancel unless there has been an end.
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
            inner: track.origin.kind == .inner ? track.id : 0, location: unmarked.location)
    }
}

/// The marble, or the subscription, that leads to what begins now: another inspected stream, or a request.
///
/// An inspected stream binds it while it delivers a value that is shown, and while it subscribes to its source. It
/// reaches everything that begins synchronously, every task that is started meanwhile, and the source behind a change
/// of scheduler: ``Relay``, ``Emitter``, ``Observable/subscribe(on:)`` and ``Flattening`` store it and restore it. A
/// timer, a buffer or a callback in between ends it: then there is no cause, rather than a wrong one.
@usableFromInline
package final class StreamCause: Sendable {
    /// The cause of what the current task, or the current thread, begins.
    @TaskLocal package static var current: StreamCause?

    /// The track that shows the marble, or the track of the subscription.
    package let track: Int
    /// The number of the marble; 0 for a subscription outside of any delivery.
    package let marble: Int
    /// The track above the tracks that begin now; 0 for none.
    let parent: Int
    /// The unnamed track of an inner stream that is being subscribed to; 0 for none.
    let inner: Int
    /// The source file and line of the nearest call of `inspected`, in the form of ``StreamTrack/Origin/location``.
    package let location: String

    init(track: Int, marble: Int, parent: Int, inner: Int = 0, location: String) {
        self.track = track
        self.marble = marble
        self.parent = parent
        self.inner = inner
        self.location = location
    }

    /// A cause without a marble: only the location in the code is known.
    convenience init(location: String) { self.init(track: 0, marble: 0, parent: 0, location: location) }

    /// Runs `work` with the location of a stream whose value has no marble. A marble that is known remains, together
    /// with its location.
    static func locate(_ cause: StreamCause, _ work: () -> Void) {
        guard let current, current.track != 0 else { return $current.withValue(cause) { work() } }
        guard current.marble == 0 else { return work() }
        let located = StreamCause(
            track: current.track, marble: 0, parent: current.parent, inner: current.inner,
            location: cause.location)
        $current.withValue(located) { work() }
    }

    /// The current cause, without a lookup if no inspector is attached.
    @usableFromInline package static var ifAttached: StreamCause? { StreamLog.isAttached ? current : nil }

    /// Runs `work` with `cause`, or without a change if that is `nil`.
    @usableFromInline
    static func restore(_ cause: StreamCause?, _ work: () -> Void) {
        guard let cause else { return work() }
        $current.withValue(cause) { work() }
    }
}

/// The text of any value, of bounded length. That of a structure is made as a whole and then cut off.
enum ShortText {
    /// The most characters, as the documentation of ``Observable/inspected(_:showing:fileID:line:)`` says.
    static let limit = 400
    /// The most elements of a list; of more, only the number is shown.
    private static let listLimit = 3

    static func of<Value>(_ value: Value) -> String {
        switch value {
        case let text as any StringProtocol: cut(text)
        case let shown as any InspectedValue: cut(shown.inspectedText)
        case let bytes as [UInt8]: "\(bytes.count) bytes"
        // Their elements are not all described, because there may be millions.
        case let list as any Collection: text(of: list)
        case is Void: "()"
        default: cut(String(describing: value))
        }
    }

    private static func text(of list: any Collection) -> String {
        func text<List: Collection>(_ list: List) -> String {
            let shown = list.prefix(listLimit).map { cut(of($0), to: limit / listLimit) }
            let rest = list.count > listLimit ? ", … \(list.count) in all" : ""
            return "[\(shown.joined(separator: ", "))\(rest)]"
        }
        return text(list)
    }

    private static func cut(_ text: some StringProtocol, to limit: Int = limit) -> String {
        // The number of characters is at most that of bytes, which is known.
        text.utf8.count <= limit ? String(text) : text.prefix(limit) + "…"
    }
}
