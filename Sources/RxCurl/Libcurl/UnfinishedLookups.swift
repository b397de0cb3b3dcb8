internal import RxLoop

/// Handles that ended while their name was being looked up over HTTPS, kept until the look-up is over
/// (``LibcurlFault/freesLookupsUnderWay``).
///
/// libcurl does not say when that is, but a look-up gets no more time than its handle had to connect.
struct UnfinishedLookups {
    /// Set while there are some.
    private var timer: LoopTimer?
    private var entries: [(handle: EasyHandle, end: UInt64)] = []
    /// When the first of the look-ups is over, in nanoseconds; the latest time there is if there are none.
    private(set) var nextEnd = UInt64.max

    /// The most handles. None of them can be freed earlier, so that no request begins while there are so many.
    var limit = 1024
    /// The longest time that a handle gets to connect where it may be kept, in milliseconds: libcurl's default.
    static let connectLimit = 300_000
    /// For the timers of both, in nanoseconds.
    private static let tolerance: UInt64 = 1_000_000_000

    var count: Int { entries.count }
    var isFull: Bool { entries.count >= limit }

    /// Has `onEnd` called when look-ups are over.
    mutating func open(on loop: EventLoop, onEnd: @escaping () -> Void) {
        timer = LoopTimer(on: loop, onFire: onEnd)
    }

    mutating func close() {
        timer?.close()
        timer = nil
    }

    /// Keeps `handle` until its look-up is certainly over.
    ///
    /// - Parameter now: the loop's time in nanoseconds.
    mutating func keep(_ handle: EasyHandle, now: UInt64) {
        let end = now + handle.connectLimit + Self.tolerance
        entries.append((handle, end))
        nextEnd = min(nextEnd, end)
        timer?.start(at: nextEnd)
    }

    /// Lets the handles go whose look-ups are over.
    mutating func removeFinished(now: UInt64) {
        if now >= nextEnd {
            entries.removeAll { $0.end <= now }
            nextEnd = entries.map(\.end).min() ?? .max
        }
        if !entries.isEmpty { timer?.start(at: nextEnd) }
    }

    /// Once the multi handle is gone there are no look-ups.
    mutating func removeAll() { (entries, nextEnd) = ([], .max) }
}
