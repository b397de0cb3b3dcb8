import RxHTTP
import RxLite

/// Records the header fields that a request is sent with, by which the cache distinguishes variants.
struct FieldNoting: TransferStage {
    func transfers(
        _ request: Request, in call: CallContext, _ next: Next
    ) -> Observable<TransferEvent, NetworkError> {
        guard let sentFields = request.sentFields else { return next.transfers(request) }
        return next.transfers(request).handleEvents(onSubscribe: { sentFields.note(request.headerFields) })
    }
}
