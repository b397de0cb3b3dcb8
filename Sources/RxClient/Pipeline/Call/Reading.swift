import RxHTTP
import RxLite

/// Processes the events of the call's response: writes them to a file, parses them, or reports their
/// progress.
struct Reading: ResponseStage {
    func intercept(
        _ request: Request, in call: CallContext, _ next: Next
    ) -> Observable<CallEvent, NetworkError> {
        call.settings.reader?.intercept(request, in: call, next) ?? next(request)
    }
}
