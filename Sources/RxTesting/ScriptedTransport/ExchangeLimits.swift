package import RxHTTP
package import RxLite

/// The time limits of one scripted, replayed or simulated exchange, as `Timeouts` defines them for a transport: of the
/// whole attempt, and of the phase that the exchange is in.
///
/// No time passes for a phase while the consumer pauses. An event at the end of a limit is in time.
package final class ExchangeLimits: @unchecked Sendable {
    // Unchecked: the variables are accessed only inside the subscription's lane, which is serial.

    /// The phases of an exchange.
    package enum Phase: Equatable {
        case connecting, sending, waiting, receiving
        /// The connection has another protocol, which may be silent for as long as it likes.
        case open
    }

    private let timeouts: Timeouts
    private let scheduler: any Scheduler
    private let scope: Scope
    private let expire: @Sendable (NetworkError) -> Void
    private var phase: Phase?
    private var whole: (any Cancellable)?
    private var timer: (any Cancellable)?
    /// Counts the timers of phases: one that was cancelled may have fired already.
    private var timerCount = 0
    private var isOver = false

    /// Begins the attempt.
    ///
    /// - Parameter expire: takes the failure, inside the lane; at most once.
    package init(
        _ timeouts: Timeouts, on scheduler: any Scheduler, in scope: Scope,
        expire: @escaping @Sendable (NetworkError) -> Void
    ) {
        self.timeouts = timeouts
        self.scheduler = scheduler
        self.scope = scope
        self.expire = expire
        whole = timeouts.attempt.map { limit in
            schedule(after: limit) {
                self.end(.attemptTimeout, "attempt timeout: the response was not complete within \(limit)")
            }
        }
        scope.onClose { self.cancel() }
        scope.onResume { self.restart() }
    }

    /// Records the phase, whose time begins with it.
    package func enter(_ phase: Phase) {
        if phase != self.phase { record(phase) }
    }

    /// Records an event, with which the time of the phase begins anew.
    ///
    /// - Parameter phase: the phase after it.
    package func record(_ phase: Phase) {
        self.phase = phase
        restart()
    }

    private func restart() {
        timer?.cancel()
        timer = nil
        timerCount += 1
        let number = timerCount
        guard !isOver, scope.isOpen, let (limit, code, text) = phaseLimit else { return }
        timer = schedule(after: limit) {
            guard number == self.timerCount, !self.scope.isPaused else { return }
            self.end(code, text)
        }
    }

    /// Runs `work` inside the lane, after the events of the moment when the time is over.
    private func schedule(
        after time: Duration, _ work: @escaping @Sendable () -> Void
    ) -> any Cancellable {
        scheduler.schedule(after: time) { [scheduler, scope] in
            scheduler.schedule { scope.enter(work) }
        }
    }

    /// The limit of the phase, with the error after it. The texts are those of `TransferDelivery` of RxCurl; change
    /// both.
    private var phaseLimit: (Duration, NetworkError.Code, String)? {
        switch phase {
        case .connecting:
            timeouts.connect.map {
                ($0, .connectTimeout, "connect timeout: no connection was made within \($0)")
            }
        case .waiting:
            timeouts.firstByte.map {
                let text = "the request was sent, and no response began within \($0)"
                return ($0, .firstByteTimeout, "first byte timeout: \(text)")
            }
        case .sending, .receiving:
            timeouts.idle.map {
                ($0, .idleTimeout, "idle timeout: nothing was sent or received for \($0)")
            }
        case .open, nil: nil
        }
    }

    private func end(_ code: NetworkError.Code, _ text: String) {
        guard !isOver, scope.isOpen else { return }
        isOver = true
        phase = nil
        cancel()
        var error = NetworkError(code, text)
        error.isUnsent = code == .connectTimeout
        expire(error)
    }

    private func cancel() {
        whole?.cancel()
        timer?.cancel()
        timerCount += 1
        (whole, timer) = (nil, nil)
    }
}
