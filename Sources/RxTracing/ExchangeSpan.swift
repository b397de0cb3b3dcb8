#if Tracing
import HTTPTypes
import RxClient
import RxHTTP
import Tracing

/// The span of one exchange.
final class ExchangeSpan: ExchangeRecord, @unchecked Sendable {
    // Unchecked, without exclusivity checks: called only inside the lane of the exchange, which is serial.
    private let span: any Span
    private let request: Request
    private let plan: SpanPlan
    private let destination: ExchangeDestination
    private let resends: Int
    private let call: RecordedCall
    private let callSpan: CallSpan
    private let begin: DefaultTracerClock.Timestamp
    @safe @exclusivity(unchecked) private var status: Int?
    @safe @exclusivity(unchecked) private var hasEnded = false

    /// - Parameter resends: the number of exchanges of the call before this one.
    init(
        _ span: any Span, of request: Request, by plan: SpanPlan, to destination: ExchangeDestination,
        resends: Int,
        since begin: DefaultTracerClock.Timestamp, of call: RecordedCall, in callSpan: CallSpan
    ) {
        self.span = span
        self.request = request
        self.plan = plan
        self.destination = destination
        self.resends = resends
        self.call = call
        self.callSpan = callSpan
        self.begin = begin
    }

    func receive(_ event: TransferEvent) {
        switch event {
        case .head(let head):
            status = head.status.code
            callSpan.record(status)
        case .finished(let metrics): finish(metrics, nil)
        default: break
        }
    }

    /// The span lasts as long as the connection.
    func recordUpgrade() {}

    func end(_ error: NetworkError?) {
        // `ExchangeMetrics` of RxMetrics derives the type of the error by the same rules; change both.
        let type = error?.conventionalType ?? (call.mayBeLeft(after: status) ? nil : "cancelled")
        finish(nil, type, error)
    }

    private func finish(
        _ metrics: TransferMetrics?, _ errorType: String?, _ error: NetworkError? = nil
    ) {
        guard !hasEnded else { return }
        hasEnded = true
        let now = callSpan.instrument.now
        if span.isRecording {
            var attributes = attributes(metrics)
            if let metrics { addEvents(metrics) }
            let failedStatus = status.flatMap { $0 >= 400 ? "\($0)" : nil }
            if let type = errorType ?? failedStatus {
                attributes["error.type"] = .string(type)
                if let error { span.fail(error, at: now) } else { span.setStatus(.init(code: .error)) }
            }
            span.add(attributes)
        }
        span.end(at: now)
    }

    private func attributes(_ metrics: TransferMetrics?) -> [String: SpanAttribute] {
        var attributes = plan.attributes(
            of: SpanPlan.Exchange(
                origin: destination.origin, status: status, version: metrics?.httpVersion,
                address: metrics?.remoteAddress, port: metrics?.remotePort ?? 0),
            at: request.shownURLWithoutQuery)
        // A redirect may have changed it.
        if request.method != plan.key.method || !plan.isConventional {
            let isKnown = request.method.isConventional
            attributes["http.request.method"] = .string(isKnown ? request.method.rawValue : "_OTHER")
            if !isKnown { attributes["http.request.method_original"] = .string(request.method.rawValue) }
        }
        if resends > 0 { attributes["http.request.resend_count"] = .int64(Int64(resends)) }
        return attributes
    }

    private func addEvents(_ metrics: TransferMetrics) {
        // The page `Tracing.md` lists the names.
        let start = begin.advanced(by: metrics.queued)
        func event(_ name: String, _ interval: Duration) {
            guard interval > .zero else { return }
            span.addEvent(SpanEvent(name: name, at: start.advanced(by: interval)))
        }
        event("dns", metrics.resolved)
        event("connect", metrics.connected)
        event("tls", metrics.secured)
        event("first byte", metrics.firstByte)
    }
}
#endif
