public import RxHTTP
public import RxLite
import Synchronization

/// Sends no more requests to a server than its responses allow: those that would be too many wait.
///
/// ```swift
/// configuration.options.interceptors.attempt.append(RateLimitFollower())
/// ```
///
/// It reads `RateLimit` and `RateLimit-Policy` (draft-ietf-httpapi-ratelimit-headers), their predecessors
/// `RateLimit-Remaining` and `X-RateLimit-Remaining` with `-Reset` and `-Limit`, and `Retry-After` of 429 and 503 (RFC
/// 9110 §10.2.3). It belongs around attempts. One follower can serve several clients.
public final class RateLimitFollower: Interceptor {
    private let longestWait: Duration
    private let allowances = Mutex<[Origin: RequestAllowance]>([:])
    private let changed = Signal<Void>()

    /// Creates a follower that knows of no limits.
    ///
    /// - Parameter longestWait: a request that would have to wait for longer fails with `queueTimeout` at once. Default
    ///   60 s.
    public init(longestWait: Duration = .seconds(60)) { self.longestWait = longestWait }

    /// Goes on when the server allows it.
    public func intercept(
        _ request: Request, in call: CallContext, _ next: Next
    ) -> Observable<CallEvent, NetworkError> {
        guard let origin = Origin(request.url) else { return next(request) }
        return admission(of: request, to: origin, on: call.scheduler).flatMap(.concat) {
            let isOut = Mutex(false)
            let leave: @Sendable (ResponseHead?) -> Void = { head in
                guard
                    !isOut.withLock({ isOut in
                        defer { isOut = true }; return isOut
                    })
                else { return }
                self.change(origin) { $0.leave(head, at: call.scheduler.now, call.scheduler.currentDate) }
                self.changed.send()
            }
            return next(request).handleEvents(
                onNext: { if let head = $0.head { leave(head) } },
                onEnd: { if case .failed(let error) = $0 { leave(error.head) } else { leave(nil) } },
                onCancel: { leave(nil) })
        }
    }

    /// One value when the request may go.
    private func admission(
        of request: Request, to origin: Origin, on clock: any Scheduler
    ) -> Observable<Void, NetworkError> {
        .deferred(on: clock) { () throws(NetworkError) in
            guard let wait = self.change(origin, { $0.enter(at: clock.now) }) else { return .just(()) }
            guard wait <= min(self.longestWait, request.timeouts.queue ?? .seconds(1 << 31)) else {
                throw NetworkError(
                    .queueTimeout, "the server allows the next request only in \(wait)", request: request)
            }
            return Observable.merge(.timer(wait, on: clock), self.changed.observable).take(1)
                .setFailureType(to: NetworkError.self)
                .flatMap(.concat) { self.admission(of: request, to: origin, on: clock) }
        }
    }

    private func change<T>(_ origin: Origin, _ change: (inout RequestAllowance) -> T) -> T {
        allowances.withLock { allowances in
            if allowances.count >= 1024, allowances[origin] == nil {
                allowances = allowances.filter(\.value.isInUse)
            }
            return change(&allowances[origin, default: RequestAllowance()])
        }
    }
}
