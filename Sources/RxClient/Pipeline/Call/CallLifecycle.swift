import RxHTTP
import RxLite

/// Counts the call, calls its accessories, reports its failure to the user, and lets the client cancel it.
struct CallLifecycle: Interceptor {
    func intercept(
        _ request: Request, in call: CallContext, _ next: Next
    ) -> Observable<CallEvent, NetworkError> {
        let presentation = call.settings.isRefresh ? .hidden : call.prepared.options.presentation ?? .all
        let willStart = call.settings.isRefresh ? nil : call.prepared.options.willStart
        return next(request).attended(
            as: request, tags: call.tags, in: call.client, isWhole: call.kind.isWhole, presentation,
            call.prepared.options.accessories, willStart: willStart)
    }
}
