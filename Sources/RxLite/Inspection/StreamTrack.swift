import Synchronization

/// One subscription of an inspected stream, or one inspected signal or property: a line of marbles.
package final class StreamTrack: Sendable {
    /// The kinds of sources that a track shows.
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

    /// The place of a track, which the caller of `inspected` determines.
    package struct Origin: Sendable {
        package var name: String
        package var kind: Kind
        /// The number of the subscription among those of the same call of `inspected`, from 1.
        package var number = 1
        /// The type of the values.
        package var element: String
        /// The source file and line of the call.
        package var place: String
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

    func note(isPaused: Bool) { paused.store(isPaused, ordering: .relaxed) }
}
