import RxHTTP
import RxLite

/// Tells ``Client/traffic`` of the exchange. It stands next to the network, so that what is told is what is sent: every
/// hop, with every field.
struct ExchangeTracing: TransferStage {
    func transfers(
        _ request: Request, in call: CallContext, _ next: Next
    ) -> Observable<TransferEvent, NetworkError> {
        guard let trace = call.trace else { return next.transfers(request) }
        return trace.exchange(request, next.transfers(request))
    }
}
