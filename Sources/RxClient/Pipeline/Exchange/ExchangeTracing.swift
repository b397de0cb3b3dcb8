import RxHTTP
import RxLite

/// Reports the exchange to ``Client/traffic`` and to instruments, which may add fields. It is the stage next to the
/// network, so the report is exactly what is sent: every hop, with every field.
struct ExchangeTracing: TransferStage {
    func transfers(
        _ request: Request, in call: CallContext, _ next: Next
    ) -> Observable<TransferEvent, NetworkError> {
        guard let trace = call.trace else { return next.transfers(request) }
        return trace.exchange(request, at: next.server, next.host) { next.transfers($0) }
    }
}
