import RxHTTP
import RxLite

/// Turns an unsuccessful status into an error, for the stages around attempts.
struct StatusCheck: ResponseStage, TransferStage {
    func transfers(
        _ request: Request, in call: CallContext, _ next: Next
    ) -> Observable<TransferEvent, NetworkError> {
        // If no stage looks at the outcome of attempts, the validation of the whole response checks the
        // status.
        guard !call.kind.isWhole || call.looksAtAttempts else { return next.transfers(request) }
        let accepted: Set<Int> =
            switch call.kind {
            case .download: [416]
            case .events, .stream: []
            case .webSocket: [101]
            default: [304]
            }
        return next.transfers(request)
            .checkStatus(of: request, accepting: accepted, envelope: call.validation.envelope)
    }
}

extension CallContext {
    fileprivate var looksAtAttempts: Bool {
        client.hosts.limiter != nil || client.configuration.circuitBreaker != nil
            || prepared.options.hedging?.isOn == true || prepared.servers.standby != nil
            || !prepared.options.interceptors.attempt.isEmpty
    }
}
