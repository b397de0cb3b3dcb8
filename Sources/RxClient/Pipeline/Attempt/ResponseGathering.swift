import RxHTTP
import RxLite

/// Gathers the whole response in memory.
struct ResponseGathering: ResponseStage {
    func intercept(
        _ request: Request, in call: CallContext, _ next: Next
    ) -> Observable<CallEvent, NetworkError> {
        next.transfers(request)
            .response(to: request, decoder: call.client.configuration.decoder)
            .map { .response($0) }
    }
}
