import HTTPTypes
import RxHTTP
import RxLite

/// The time limits of one simulated exchange, as `Timeouts` defines them for a transport: of the whole, to the first byte
/// of the response, and of the silence within it. Simulated connections are made at once.
final class SilenceLimit: @unchecked Sendable {
    // Unchecked: the variables are accessed only inside the subscription's lane, which is serial.
    private let timeouts: Timeouts
    private let scheduler: any Scheduler
    private let scope: Scope
    private let expire: @Sendable (NetworkError.Code, String) -> Void
    private var timer: (any Cancellable)?
    private var whole: (any Cancellable)?
    /// Whether the connection has another protocol, which may be silent for as long as it likes.
    private var isUpgraded = false
    private var limit: (time: Duration, code: NetworkError.Code, text: String)?

    /// - Parameter expire: takes the code and the message of the failure, inside the lane.
    init(
        _ timeouts: Timeouts, on scheduler: any Scheduler, in scope: Scope,
        expire: @escaping @Sendable (NetworkError.Code, String) -> Void
    ) {
        self.timeouts = timeouts
        self.scheduler = scheduler
        self.scope = scope
        self.expire = expire
        whole = timeouts.attempt.map { limit in
            scheduler.schedule(after: limit) {
                scope.enter {
                    expire(.attemptTimeout, "attempt timeout: the response was not complete within \(limit)")
                }
            }
        }
        scope.onClose {
            self.whole?.cancel()
            self.set(nil)
        }
        // No time passes while the consumer pauses.
        scope.onResume { self.set(self.limit) }
    }

    /// Notes that the request is sent.
    func awaitHead() {
        set(
            timeouts.firstByte.map {
                ($0, .firstByteTimeout, "first byte timeout: no response began within \($0)")
            })
    }

    /// Notes an event of the response.
    func note(_ event: TransferEvent) {
        switch event {
        case .interim: awaitHead()
        case .head(let head) where head.status == .switchingProtocols:
            isUpgraded = true
            whole?.cancel()
            set(nil)
        case .head, .chunk:
            guard !isUpgraded else { return }
            set(timeouts.idle.map { ($0, .idleTimeout, "idle timeout: nothing was received for \($0)") })
        default: break
        }
    }

    private func set(_ limit: (time: Duration, code: NetworkError.Code, text: String)?) {
        timer?.cancel()
        timer = nil
        self.limit = limit
        guard let limit, scope.isOpen else { return }
        timer = scheduler.schedule(after: limit.time) {
            self.scope.enter {
                guard !self.scope.isPaused else { return }
                self.expire(limit.code, limit.text)
            }
        }
    }
}
