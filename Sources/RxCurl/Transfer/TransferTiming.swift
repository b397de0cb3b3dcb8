internal import RxHTTP

/// The times of a transfer's events, and the clock of its limits.
struct TransferTiming {
    var clock: TransferClock
    /// For a streamed body: when reading it began, when all of it had been sent, and when its response began.
    /// For these, curl's time of the first byte is the time of the first byte sent.
    var startedAt: Duration?
    var sentAt: Duration?
    var respondedAt: Duration?

    init(_ timeouts: Timeouts) { clock = TransferClock(timeouts) }

    /// Replaces curl's times by those of a streamed body.
    func correct(_ metrics: inout TransferMetrics) {
        guard let startedAt else { return }
        if let respondedAt { metrics.firstByte = respondedAt - startedAt }
        if let sentAt { metrics.sent = min(sentAt - startedAt, metrics.firstByte) }
    }
}
