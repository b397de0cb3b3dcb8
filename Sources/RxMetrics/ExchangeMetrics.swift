#if Metrics
import CoreMetrics
import HTTPTypes
import RxClient
import RxHTTP
import RxLite

/// Records one exchange.
final class ExchangeMetrics: ExchangeRecord, @unchecked Sendable {
    // Unchecked, without exclusivity checks: called only inside the call's lane, which is serial.
    private let target: MetricsTarget
    private let call: CallMetrics
    private let start: Duration
    @safe @exclusivity(unchecked) private var status: Int?
    @safe @exclusivity(unchecked) private var isRecorded = false

    init(_ target: MetricsTarget, in call: CallMetrics) {
        self.target = target
        self.call = call
        start = call.call.scheduler.now
        target.active.increment(by: 1)
    }

    func take(_ event: TransferEvent) {
        switch event {
        case .head(let head): status = head.status.code
        case .finished(let metrics): record(metrics, nil)
        default: break
        }
    }

    /// The bytes after the head are of another protocol.
    func noteUpgrade() { record(nil, nil) }

    func end(_ error: NetworkError?) {
        record(nil, error?.conventionalType ?? (call.call.mayBeLeft(after: status) ? nil : "cancelled"))
    }

    private func record(_ metrics: TransferMetrics?, _ error: String?) {
        guard !isRecorded else { return }
        isRecorded = true
        target.active.decrement(by: 1)
        let failedStatus = status.flatMap { $0 >= 400 ? "\($0)" : nil }
        let results = target.results(
            of: .init(status: status, version: metrics?.httpVersion, error: error ?? failedStatus))
        results.duration.recordNanoseconds((call.call.scheduler.now - start).nanoseconds)
        guard let metrics else { return }
        results.requestSize.record(Int64(metrics.bodyBytesSent))
        results.responseSize.record(Int64(metrics.bodyBytesReceived))
        if metrics.queued > .zero { target.wait(metrics.queued, in: "connection") }
    }
}
#endif
