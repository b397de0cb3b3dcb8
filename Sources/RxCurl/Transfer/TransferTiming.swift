internal import RxHTTP

/// When things happened to a transfer, and the clock of its limits.
struct TransferTiming {
    var clock: TransferClock
    /// When a body that is streamed began to be read, when all of it had gone, and when its response began:
    /// curl's own time of the first byte is that of the first byte sent for these.
    var startedAt: Duration?
    var sentAt: Duration?
    var respondedAt: Duration?

    init(_ timeouts: Timeouts) { clock = TransferClock(timeouts) }

    /// Puts the times of a streamed body in place of curl's.
    func correct(_ metrics: inout TransferMetrics) {
        guard let startedAt else { return }
        if let respondedAt { metrics.firstByte = respondedAt - startedAt }
        if let sentAt { metrics.sent = min(sentAt - startedAt, metrics.firstByte) }
    }
}
