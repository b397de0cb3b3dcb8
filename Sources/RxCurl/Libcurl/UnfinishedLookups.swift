internal import RxLoop

/// Handles that ended during a lookup of their name over HTTPS, kept until the lookup has ended
/// (``LibcurlFault/freesLookupsUnderWay``).
///
/// libcurl does not report the end, but a lookup gets no more time than the connect timeout of its handle.
struct UnfinishedLookups {
    /// Set while there are entries.
    private var timer: LoopTimer?
    private var entries: [(handle: EasyHandle, end: UInt64)] = []
    /// When the first of the lookups has ended for certain, in nanoseconds; the maximum if there are none.
    private(set) var nextEnd = UInt64.max

    /// The maximum number of handles. They cannot be freed earlier, so no request begins while the limit is
    /// reached.
    var limit = 1024
    /// The maximum connect timeout of a handle that may be kept, in milliseconds: libcurl's default.
    static let connectLimit = 300_000
    /// For the inaccuracy of curl's and the loop's timers, in nanoseconds.
    private static let tolerance: UInt64 = 1_000_000_000

    var count: Int { entries.count }
    var isFull: Bool { entries.count >= limit }

    /// Sets the closure to call when lookups have ended.
    mutating func open(on loop: EventLoop, onEnd: @escaping () -> Void) {
        timer = LoopTimer(on: loop, onFire: onEnd)
    }

    mutating func close() {
        timer?.close()
        timer = nil
    }

    /// Keeps `handle` until its lookup has ended for certain.
    ///
    /// - Parameter now: the loop's time in nanoseconds.
    mutating func keep(_ handle: EasyHandle, now: UInt64) {
        let end = now + handle.connectLimit + Self.tolerance
        entries.append((handle, end))
        nextEnd = min(nextEnd, end)
        timer?.start(at: nextEnd)
    }

    /// Releases the handles whose lookups have ended.
    mutating func removeFinished(now: UInt64) {
        if now >= nextEnd {
            entries.removeAll { $0.end <= now }
            nextEnd = entries.map(\.end).min() ?? .max
        }
        if !entries.isEmpty { timer?.start(at: nextEnd) }
    }

    /// Releases all handles. Without a multi handle there are no lookups.
    mutating func removeAll() { (entries, nextEnd) = ([], .max) }
}
