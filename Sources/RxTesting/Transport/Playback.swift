import RxHTTP
import RxLite

/// One running exchange: performs the steps of its script, in its subscription's lane.
final class Playback: @unchecked Sendable {
    // Unchecked: the variables are accessed only inside the subscription's lane, which is serial.
    private var steps: [ScriptedTransport.Step]
    private let request: Request
    private let observer: Observer<TransferEvent, NetworkError>
    private let clock: any Scheduler
    private let begun: Duration
    private let report: @Sendable (ScriptedTransport.Exchange.Outcome) -> Void
    private var next = 0
    private var firstByte: Duration?
    private var outcome: ScriptedTransport.Exchange.Outcome = .cancelled
    private var timer: (any Cancellable)?
    private var isRunning = false
    private var isStalled = false

    init(
        _ steps: [ScriptedTransport.Step], of request: Request,
        to observer: Observer<TransferEvent, NetworkError>, on clock: any Scheduler,
        report: @escaping @Sendable (ScriptedTransport.Exchange.Outcome) -> Void
    ) {
        self.steps = steps
        self.request = request
        self.observer = observer
        self.clock = clock
        self.report = report
        begun = clock.now
    }

    func start() {
        observer.scope.onClose {
            self.timer?.cancel()
            self.timer = nil
            self.report(self.outcome)
        }
        observer.scope.onResume { self.run() }
        wait(.zero)
    }

    /// Performs these steps in place of the remaining ones. Called inside the lane.
    func replaceRest(by steps: [ScriptedTransport.Step]) {
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
            observer.next(.uploaded(bytes: bytes, of: total))
        case .interim(let head):
            observer.next(.interim(head))
        case .head(let head):
            firstByte = clock.now - begun
            observer.next(.head(head))
        case .chunk(let bytes):
            observer.next(.chunk(bytes))
        case .trailers(let fields):
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

    private func fail(_ error: NetworkError) {
        outcome = .failed(error.code)
        observer.fail(error.requestID == nil ? error.attributed(to: request) : error)
    }
}
