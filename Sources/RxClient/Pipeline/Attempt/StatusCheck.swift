import RxHTTP
import RxLite

/// Makes an error of a status that is no success, for the stages around attempts to see.
struct StatusCheck: ResponseStage, TransferStage {
    func transfers(
        _ request: Request, in call: CallContext, _ next: Next
    ) -> Observable<TransferEvent, NetworkError> {
        // Where no such stage looks at the outcome, the validation of the whole response sees to it.
        guard !call.kind.isWhole || call.looksAtAttempts else { return next.transfers(request) }
        let accepted: Set<Int> =
            switch call.kind {
            case .download: [416]
            case .events, .stream: []
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
