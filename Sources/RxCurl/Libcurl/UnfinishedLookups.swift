/// Handles that ended while their name was being looked up over HTTPS, kept until the look-up is over
/// (``LibcurlFault/freesLookupsUnderWay``).
///
/// libcurl does not say when that is, but a look-up gets no more time than its handle had to connect.
struct UnfinishedLookups {
    private var entries: [(handle: EasyHandle, end: UInt64)] = []
    /// For the timers of both, in nanoseconds.
    private static let tolerance: UInt64 = 1_000_000_000

    /// Keeps `handle` until its look-up is certainly over.
    ///
    /// - Parameter now: the loop's time in nanoseconds.
    mutating func keep(_ handle: EasyHandle, now: UInt64) {
        entries.append((handle, now + handle.connectLimit + Self.tolerance))
    }

    /// Lets the handles go whose look-ups are over.
    mutating func removeFinished(now: UInt64) {
        guard !entries.isEmpty else { return }
        entries.removeAll { $0.end <= now }
    }

    /// Once the multi handle is gone there are no look-ups.
    mutating func removeAll() { entries = [] }
}
