/// The marble, or the subscription, that leads to what begins now: another inspected stream, or a request.
///
/// An inspected stream binds it while it delivers a value that is shown, and while it subscribes to its source. It
/// reaches everything that begins synchronously, every task that is started meanwhile, and the source behind a change of
/// scheduler. A timer, a buffer or a callback in between ends it: then there is no cause, rather than a wrong one.
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
    /// The source file and line of the nearest call of `inspected`.
    package let place: String

    init(track: Int, marble: Int, parent: Int, inner: Int = 0, place: String) {
        self.track = track
        self.marble = marble
        self.parent = parent
        self.inner = inner
        self.place = place
    }

    /// A cause without a marble: only the place in the code is known.
    convenience init(place: String) { self.init(track: 0, marble: 0, parent: 0, place: place) }

    /// Runs `work` with the place of a stream whose value has no marble. A marble that is known remains, together with
    /// its place.
    static func locate(_ place: StreamCause, _ work: () -> Void) {
        guard let current, current.track != 0 else { return $current.withValue(place) { work() } }
        guard current.marble == 0 else { return work() }
        let cause = StreamCause(
            track: current.track, marble: 0, parent: current.parent, inner: current.inner, place: place.place)
        $current.withValue(cause) { work() }
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
