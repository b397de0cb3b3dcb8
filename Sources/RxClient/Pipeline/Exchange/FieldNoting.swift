import RxHTTP
import RxLite

/// Notes which header fields a request goes out with, for the cache to tell variants apart.
struct FieldNoting: TransferStage {
    func transfers(
        _ request: Request, in call: CallContext, _ next: Next
    ) -> Observable<TransferEvent, NetworkError> {
        guard let sentFields = request.sentFields else { return next.transfers(request) }
        return next.transfers(request).handleEvents(onSubscribe: { sentFields.note(request.headerFields) })
    }
}
