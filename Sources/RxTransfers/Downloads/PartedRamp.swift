/// Finds the number of requests at which a download is fastest: adds some while that makes it faster. Pure.
///
/// The rate is measured with each number of requests, but not while new connections are being made. Nothing is added to a
/// download that is nearly over.
struct PartedRamp: Sendable {
    /// The action after a measurement.
    enum Step: Equatable {
        /// Measure again after the interval.
        case wait
        /// Run so many requests, and measure again after the interval.
        case grow(Int)
        /// The number stays.
        case enough
    }

    // ``PartedDownload/Parts/automatic`` promises the gain, the time that must be left, and four times as many
    // requests.

    /// The time of a measurement.
    static let interval = Duration.milliseconds(250)
    /// The least gain of a growth that justifies another one.
    private static let gain = 1.25
    /// The time that must be left for another request, in seconds.
    private static let minRemainingSeconds = 1.0

    private let maxConcurrency: Int
    private var count = 1
    private var start: (bytes: Int64, time: Duration)?
    /// The bytes per second before the last growth.
    private var before: Double?

    /// - Parameter maxConcurrency: the most requests at a time.
    init(maxConcurrency: Int) { self.maxConcurrency = maxConcurrency }

    /// Begins the first measurement, with the first bytes.
    mutating func begin(at now: Duration) { start = (0, now) }

    /// Takes the bytes that have arrived so far.
    mutating func take(_ bytes: Int64, left: Int64, at now: Duration) -> Step {
        guard let start else {
            // What arrives now arrives on connections that are open.
            if bytes > 0 { self.start = (bytes, now) }
            return .wait
        }
        guard now > start.time else { return .wait }
        let rate = Double(bytes - start.bytes) / ((now - start.time) / .seconds(1))
        if let before, rate < before * Self.gain { return .enough }
        guard count < maxConcurrency, rate > 0, Double(left) / rate > Self.minRemainingSeconds else {
            return .enough
        }
        before = rate
        count = min(maxConcurrency, count * 4)
        self.start = nil
        return .grow(count)
    }
}
