import RxHTTP
import RxLite
import Synchronization

/// What the attempts of one request have in common: its id, its count, its deadline, its one replay.
final class Attempts: Sendable {
    let replay = Replay()
    let policy: RetryPolicy<NetworkError>
    let deadline: Deadline?
    private let request: Request
    private let count = Atomic<Int>(0)

    init(
        of request: Request, within total: Duration?, retrying policy: RetryPolicy<NetworkError>,
        on scheduler: any Scheduler
    ) {
        self.request = request
        let deadline = total.map { Deadline(limit: $0, request: request, on: scheduler) }
        self.deadline = deadline
        self.policy = deadline.map { policy.ending($0) } ?? policy
    }

    /// The request for the next attempt.
    func next() -> Request {
        var request = request
        request.attempt = count.add(1, ordering: .relaxed).newValue
        return request
    }
}

/// When a request must have ended, whatever it is doing.
struct Deadline: Sendable {
    let limit: Duration
    let time: Duration
    let request: Request
    let scheduler: any Scheduler

    init(limit: Duration, request: Request, on scheduler: any Scheduler) {
        self.limit = limit
        self.request = request
        self.scheduler = scheduler
        time = scheduler.now + limit
    }
}

extension RetryPolicy<NetworkError> {
    /// The same policy, without waits that would outlast `deadline`.
    fileprivate func ending(_ deadline: Deadline) -> RetryPolicy {
        RetryPolicy(
            { error, retries in
                let decision = decide(error, retries)
                guard case .retry(let delay) = decision, deadline.scheduler.now + delay > deadline.time else {
                    return decision
                }
                return .stop
            }, stamp: stamp)
    }
}

extension Observable where Failure == NetworkError {
    /// Ends with `totalTimeout` when `deadline` comes first.
    func deadline(_ deadline: Deadline?) -> Observable {
        guard let deadline else { return self }
        return timeout(deadline.limit, on: deadline.scheduler) {
            NetworkError(.totalTimeout, "no answer within \(deadline.limit)", request: deadline.request)
        }
    }
}
