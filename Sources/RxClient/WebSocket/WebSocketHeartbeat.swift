import RxLite

/// Notices that the peer of a connection is gone: sends a ping after silence, and reports a loss when there is
/// silence after the ping as well.
final class WebSocketHeartbeat: @unchecked Sendable {
    // Unchecked, and without exclusivity checks: runs only inside the lane of the exchange, which is serial.

    private let interval: Duration
    private let timeout: Duration
    private let timer: OperatorTimer
    /// Whether anything has arrived since the last look.
    @safe @exclusivity(unchecked) private var hasReceived = false
    @safe @exclusivity(unchecked) private var awaitsPong = false

    init(every interval: Duration, timeout: Duration, _ timer: OperatorTimer) {
        self.interval = interval
        self.timeout = timeout
        self.timer = timer
    }

    func noteReceived() { hasReceived = true }

    /// Looks after each interval.
    ///
    /// - Parameters:
    ///   - isWaived: whether silence means nothing, because nothing is read.
    ///   - ping: sends a ping.
    ///   - onLoss: called once, after the last look.
    func start(
        isWaived: @escaping @Sendable () -> Bool, ping: @escaping @Sendable () -> Void,
        onLoss: @escaping @Sendable () -> Void
    ) {
        timer.set(after: awaitsPong ? timeout : interval) {
            let isAlive = self.hasReceived || isWaived()
            if !isAlive, self.awaitsPong { return onLoss() }
            if !isAlive { ping() }
            self.awaitsPong = !isAlive
            self.hasReceived = false
            self.start(isWaived: isWaived, ping: ping, onLoss: onLoss)
        }
    }
}
