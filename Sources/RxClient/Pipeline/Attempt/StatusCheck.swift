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
        return next.transfers(request)
            .checkStatus(
                of: request, accepting: Self.accepted(by: call.kind), envelope: call.validation.envelope,
                keeping: call.kind == .events || call.kind == .webSocket
                    ? min(Self.refusalLimit, request.bodyLimit) : .max)
    }

    /// The limit of the body with which a server refuses an event stream or a WebSocket. The status decides, and a larger
    /// body must not replace it by another error.
    private static let refusalLimit = 1 << 20

    // Made once, not for each request.
    private static let rangeNotSatisfiable: Set = [416]
    private static let switchingProtocols: Set = [101]
    private static let notModified: Set = [304]

    private static func accepted(by kind: CallKind) -> Set<Int> {
        switch kind {
        case .download: rangeNotSatisfiable
        case .events, .stream: []
        case .webSocket: switchingProtocols
        default: notModified
        }
    }
}

extension CallContext {
    fileprivate var looksAtAttempts: Bool {
        client.hosts.limiter != nil || client.configuration.circuitBreaker != nil
            || prepared.options.hedging?.isOn == true || prepared.servers.standby != nil
            || !prepared.options.interceptors.attempt.isEmpty
    }
}
