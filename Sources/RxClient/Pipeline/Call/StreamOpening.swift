import RxHTTP
import RxLite

/// Marks a stream as begun with its head: after that, no further attempt can make up for a failure.
struct StreamOpening: ResponseStage {
    func intercept(
        _ request: Request, in call: CallContext, _ next: Next
    ) -> Observable<CallEvent, NetworkError> {
        next(request).map { [decoder = call.client.configuration.decoder] event in
            guard case .transfer(.head(var head)) = event else { return event }
            call.noteResponse()
            call.session?.noteSuccess(of: call.stamp)
            head.decoder = decoder
            return .transfer(.head(head))
        }
    }
}
