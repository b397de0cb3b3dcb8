import RxLite

/// The progress of a transfer with its rate and the time that is left.
public struct TransferRate: Sendable, Equatable {
    /// The bytes so far, those of earlier runs included.
    public var bytes: Int64
    /// The total; `nil` if it is not known yet.
    public var expected: Int64?
    /// The bytes per second over the last ten seconds; `nil` until there are two points in time.
    public var bytesPerSecond: Double?

    /// Creates a progress.
    public init(bytes: Int64, expected: Int64? = nil, bytesPerSecond: Double? = nil) {
        self.bytes = bytes
        self.expected = expected
        self.bytesPerSecond = bytesPerSecond
    }

    /// From 0 to 1; `nil` if the total is unknown. A total of zero bytes gives 1.
    public var fraction: Double? {
        guard let expected else { return nil }
        return expected > 0 ? min(1, Double(bytes) / Double(expected)) : 1
    }

    /// The time for the rest at the current rate; `nil` if the total or the rate is unknown, or nothing moves.
    public var timeLeft: Duration? {
        guard let expected, let bytesPerSecond else { return nil }
        guard bytes < expected else { return .zero }
        guard bytesPerSecond > 0 else { return nil }
        // Beyond 30 years the estimate means nothing, and the conversion could overflow.
        let seconds = Double(expected - bytes) / bytesPerSecond
        return seconds < 1e9 ? .seconds(seconds) : nil
    }
}

/// Measures the rate of a transfer over a sliding window, and limits how often it is reported.
struct RateMeter: Sendable {
    /// Ten seconds, as ``TransferRate/bytesPerSecond`` and ``TransferQueue/progress`` say.
    private static let window = Duration.seconds(10)
    /// 20 values a second, as the events of uploads and downloads promise.
    static let interval = Duration.milliseconds(50)
    private static let step = Duration.milliseconds(250)

    private var samples: [(time: Duration, bytes: Int64)] = []
    private var reported: (time: Duration, rate: TransferRate)?

    /// Begins anew, after a pause: what moved before says nothing about now.
    mutating func restart() { samples = [] }

    /// The progress to report; `nil` if the last one is too young.
    ///
    /// - Parameter isLast: whether none follows, so that it is reported in any case.
    mutating func report(
        _ bytes: Int64, of expected: Int64?, at now: Duration, isLast: Bool = false
    ) -> TransferRate? {
        if let last = samples.last, bytes < last.bytes { samples = [] }
        // The newest sample is replaced while it is young, so that their number has a bound.
        if samples.count > 1, now - samples[samples.count - 2].time < Self.step { samples.removeLast() }
        samples.append((now, bytes))
        samples.removeAll { now - $0.time > Self.window }
        var rate = TransferRate(bytes: bytes, expected: expected)
        if let first = samples.first, now > first.time {
            rate.bytesPerSecond = Double(bytes - first.bytes) / ((now - first.time) / .seconds(1))
        }
        if let reported {
            if reported.rate.bytes == bytes, reported.rate.expected == expected { return nil }
            if !isLast, now - reported.time < Self.interval { return nil }
        }
        reported = (now, rate)
        return rate
    }
}

/// Reports the progress of one running transfer. A value that comes too soon is held back, and reported when its time has
/// come, even if no other follows.
final class RateReporter: @unchecked Sendable {
    // Unchecked: runs only inside the transfer's lane, which is serial. Debug builds check that.
    private var meter = RateMeter()
    private var held: (bytes: Int64, expected: Int64?)?
    private let clock: any Scheduler
    private let scope: Scope
    private let timer: OperatorTimer
    private let emit: @Sendable (TransferRate) -> Void

    init(on clock: any Scheduler, in scope: Scope, emit: @escaping @Sendable (TransferRate) -> Void) {
        self.clock = clock
        self.scope = scope
        self.emit = emit
        timer = OperatorTimer(clock, in: scope)
    }

    /// Begins anew, after a pause.
    func restart() { meter.restart() }

    func report(_ bytes: Int64, of expected: Int64?, isLast: Bool = false) {
        scope.lane.assertInside()
        if let rate = meter.report(bytes, of: expected, at: clock.now, isLast: isLast) {
            held = nil
            timer.cancel()
            return emit(rate)
        }
        let isWaiting = held != nil
        held = (bytes, expected)
        guard !isWaiting else { return }
        timer.set(after: RateMeter.interval) { [weak self] in self?.flush() }
    }

    private func flush() {
        guard let held else { return }
        self.held = nil
        let rate = meter.report(held.bytes, of: held.expected, at: clock.now, isLast: true)
        if let rate { emit(rate) }
    }
}
