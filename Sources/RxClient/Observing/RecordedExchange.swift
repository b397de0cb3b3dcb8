import HTTPTypes
import RxHTTP
import RxLite

/// One exchange on its way to the instruments' record.
final class RecordedExchange: @unchecked Sendable {
    // Unchecked, without exclusivity checks: runs only inside the subscription's lane, which is serial.
    private let record: any ExchangeRecord
    private let trace: Trace
    private let observer: Observer<TransferEvent, NetworkError>
    @safe @exclusivity(unchecked) private var hasEnded = false

    init(
        _ record: any ExchangeRecord, of trace: Trace, into observer: Observer<TransferEvent, NetworkError>
    ) {
        self.record = record
        self.trace = trace
        self.observer = observer
    }

    func start(_ events: Observable<TransferEvent, NetworkError>) {
        // A subscriber that has the complete response may cancel before the stream completes.
        observer.scope.onClose { self.end(self.trace.failure) }
        events.subscribe(
            Observer(
                scope: observer.scope, target: self,
                receive: { event, exchange in
                    // Guard: the target given above.
                    unsafe unsafeDowncast(exchange, to: RecordedExchange.self).receive(event)
                },
                end: { completion in
                    if case .failed(let error) = completion { self.end(error) } else { self.end(nil) }
                    self.observer.end(completion)
                }))
    }

    private func receive(_ event: TransferEvent) {
        if !hasEnded {
            if case .finished = event { hasEnded = true }
            record.take(event)
        }
        observer.next(event)
        // The client has checked the handshake, unless it has ended the exchange.
        if !hasEnded, case .head(let head) = event, head.status == .switchingProtocols {
            record.noteUpgrade()
        }
    }

    private func end(_ error: NetworkError?) {
        guard !hasEnded else { return }
        hasEnded = true
        record.end(error)
    }
}
