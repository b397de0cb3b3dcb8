import RxHTTP
import RxLite

/// What one call does with the events of its response: puts them into a file, parses them, or shows its progress.
struct Reading: ResponseStage {
    func intercept(
        _ request: Request, in call: CallContext, _ next: Next
    ) -> Observable<CallEvent, NetworkError> {
        call.settings.reader?.intercept(request, in: call, next) ?? next(request)
    }
}
