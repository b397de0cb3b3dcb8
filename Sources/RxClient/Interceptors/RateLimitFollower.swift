public import RxHTTP
public import RxLite
import Synchronization

/// Sends no more requests to a server than its responses allow: excess requests wait, in order of arrival.
///
/// ```swift
/// configuration.options.interceptors.attempt.append(RateLimitFollower())
/// ```
///
/// It reads `RateLimit` and `RateLimit-Policy` (draft-ietf-httpapi-ratelimit-headers), their predecessors
/// `RateLimit-Remaining` and `X-RateLimit-Remaining` with `-Reset` and `-Limit`, and the `Retry-After` of 429
/// and 503 (RFC 9110 §10.2.3). Place it around attempts, and use it with one client only.
public final class RateLimitFollower: Interceptor {
    private struct Contents {
        var queues: [Origin: AllowanceQueue] = [:]
        /// The number of queues kept before idle ones are dropped.
        var limit = 1024
    }

    private let longestWait: Duration
    private let contents = Mutex(Contents())

    /// Creates a follower without known limits.
    ///
    /// - Parameter longestWait: the longest wait. A request that would have to wait longer, or longer than
    ///   ``Timeouts/queue``, fails with `queueTimeout`; at once if that is certain. Default 60 s.
    public init(longestWait: Duration = .seconds(60)) { self.longestWait = longestWait }

    /// Proceeds when the server allows it.
    public func intercept(
        _ request: Request, in call: CallContext, _ next: Next
    ) -> Observable<CallEvent, NetworkError> {
        guard let origin = Origin(request.url) else { return next(request) }
        let limit = min(longestWait, request.timeouts.queue ?? longestWait)
        return Observable(scheduler: call.scheduler) { observer in
            let queue = self.queue(of: origin, on: call.scheduler)
            PacedRequest(request, in: queue, into: observer).start(next, within: limit)
        }
    }

    private func queue(of origin: Origin, on clock: any Scheduler) -> AllowanceQueue {
        contents.withLock { contents in
            if let queue = contents.queues[origin] { return queue }
            if contents.queues.count >= contents.limit {
                contents.queues = contents.queues.filter { $0.value.isInUse }
                contents.limit = max(1024, contents.queues.count * 2)
            }
            let queue = AllowanceQueue(on: clock)
            contents.queues[origin] = queue
            return queue
        }
    }
}
