import RxHTTP
import RxLite

/// Reports the progress of an exchange in both directions.
struct ProgressReading: Interceptor {
    let upload: @Sendable (TransferProgress) -> Void
    let download: @Sendable (TransferProgress) -> Void

    func intercept(
        _ request: Request, in call: CallContext, _ next: Next
    ) -> Observable<CallEvent, NetworkError> {
        next.transfers(request).reporting(upload: upload, download: download).map { .transfer($0) }
    }
}
