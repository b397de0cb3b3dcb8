import HTTPTypes
package import RxHTTP
package import RxLite

/// One running exchange: performs the steps of its script, in its subscription's lane.
package final class Playback: @unchecked Sendable {
    // Unchecked: the variables are accessed only inside the subscription's lane, which is serial.
    private var steps: [ScriptedTransport.Step]
    private let request: Request
    private let observer: Observer<TransferEvent, NetworkError>
    private let clock: any Scheduler
    private let begun: Duration
    private let report: @Sendable (ScriptedTransport.Exchange.Outcome) -> Void
    private var limits: ExchangeLimits?
    private var next = 0
    private var firstByte: Duration?
    /// Whether a part of the request is left to send.
    private var isSending = false
    /// Whether the connection has another protocol.
    private var isUpgraded = false
    /// The outcome that is reported when the scope closes: a cancel, unless the exchange has ended before.
    private var outcome: ScriptedTransport.Exchange.Outcome = .cancelled
    private var timer: (any Cancellable)?
    private var isRunning = false
    private var isStalled = false

    /// - Parameters:
    ///   - begun: the time when the exchange began. Default: now.
    ///   - limits: the time limits of the exchange, if it has begun before. Default those of the request.
    package init(
        _ steps: [ScriptedTransport.Step], of request: Request,
        to observer: Observer<TransferEvent, NetworkError>, on clock: any Scheduler,
        since begun: Duration? = nil, limits: ExchangeLimits? = nil,
        report: @escaping @Sendable (ScriptedTransport.Exchange.Outcome) -> Void
    ) {
        self.steps = steps
        self.request = request
        self.observer = observer
        self.clock = clock
        self.limits = limits
        self.report = report
        self.begun = begun ?? clock.now
    }

    package func start() {
        observer.scope.onClose {
            self.timer?.cancel()
            self.timer = nil
            self.report(self.outcome)
        }
        observer.scope.onResume { self.run() }
        let limits =
            limits
            ?? ExchangeLimits(request.timeouts, on: clock, in: observer.scope) { [weak self] error in
                self?.replaceRest(by: [.fail(error)])
            }
        self.limits = limits
        limits.enter(phase)
        wait(.zero)
    }

    /// Performs these steps in place of the remaining ones. Called inside the lane.
    package func replaceRest(by steps: [ScriptedTransport.Step]) {
        timer?.cancel()
        timer = nil
        self.steps = steps
        next = 0
        isStalled = false
        run()
    }

    private func wait(_ delay: Duration) {
        timer = clock.schedule(after: delay) {
            self.observer.scope.enter {
                self.timer = nil
                self.run()
            }
        }
    }

    private func run() {
        guard !isRunning else { return }
        isRunning = true
        while timer == nil, !isStalled, observer.scope.isOpen, !observer.scope.isPaused { take() }
        isRunning = false
    }

    private func take() {
        guard next < steps.count else {
            return fail(
                NetworkError(.unscripted, "the script ended without finish, fail or stall", request: request))
        }
        let step = steps[next]
        next += 1
        switch step {
        case .wait(let delay):
            if delay > .zero { wait(delay) }
        case .uploaded(let bytes, let total):
            isSending = total.map { bytes < $0 } ?? false
            limits?.record(phase)
            observer.next(.uploaded(bytes: bytes, of: total))
        case .interim(let head):
            limits?.record(phase)
            observer.next(.interim(head))
        case .head(let head):
            firstByte = clock.now - begun
            isUpgraded = head.status == .switchingProtocols
            limits?.record(phase)
            observer.next(.head(head))
        case .chunk(let bytes):
            limits?.record(phase)
            observer.next(.chunk(bytes))
        case .trailers(let fields):
            limits?.record(phase)
            observer.next(.trailers(fields))
        case .finish:
            let total = clock.now - begun
            outcome = .finished
            observer.next(.finished(TransferMetrics(firstByte: firstByte ?? total, total: total)))
            if observer.scope.isOpen { observer.finish() }
        case .fail(let error):
            fail(error)
        case .stall:
            isStalled = true
        }
    }

    /// The phase until the next event of the script.
    private var phase: ExchangeLimits.Phase {
        if firstByte != nil { return isUpgraded ? .open : .receiving }
        let event = steps[next...].first { if case .wait = $0 { false } else { true } }
        return switch event {
        case .uploaded: .sending
        case .fail(let error) where error.isUnsent: .connecting
        default: isSending ? .sending : .waiting
        }
    }

    private func fail(_ error: NetworkError) {
        outcome = .failed(error.code)
        observer.fail(error.requestID == nil ? error.attributed(to: request) : error)
    }
}
