import RxHTTP
import RxLite

/// Waits for a place within the client's limits, and holds it until the end of the attempt.
struct RequestLimiting: Interceptor {
    func intercept(
        _ request: Request, in call: CallContext, _ next: Next
    ) -> Observable<CallEvent, NetworkError> {
        guard let limiter = call.client.hosts.limiter, let place = next.host?.place else {
            return next(request)
        }
        let limit = request.timeouts.queue
        let wait = QueueWait(
            limiter: limiter, place: place, limit: limit,
            isExempt: { scope in
                call.client.configuration.session?
                    .mayServeLogin(scope.lane, usesSession: call.session != nil) ?? false
            },
            onWait: { waited in call.trace?.tell(waited.map { .admitted(after: $0) } ?? .queued) },
            attribute: { call.attributed($0) })
        return wait.then(on: call.scheduler) { waited in
            guard waited > .zero, let limit else { return next(request) }
            var request = request
            // The rest of the time limit applies to the transport's queue.
            request.timeouts.queue = max(limit - waited, .nanoseconds(1))
            return next(request)
        }
    }
}
