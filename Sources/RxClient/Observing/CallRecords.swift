import RxHTTP
import RxLite

/// The records of several instruments.
final class CallRecords: CallRecord {
    private let records: [any CallRecord]

    init(_ records: [any CallRecord]) { self.records = records }

    func begin(in lane: Lane) { for record in records { record.begin(in: lane) } }
    func noteOutput() { for record in records { record.noteOutput() } }
    func take(_ event: TrafficEvent.Kind) { for record in records { record.take(event) } }
    func end(_ outcome: TrafficEvent.Summary.Outcome) { for record in records { record.end(outcome) } }

    func exchange(
        _ request: inout Request, to destination: ExchangeDestination
    ) -> any ExchangeRecord {
        var exchanges: [any ExchangeRecord] = []
        for record in records {
            exchanges.append(record.exchange(&request, to: destination))
        }
        return ExchangeRecords(exchanges)
    }
}

/// The same for one exchange.
private final class ExchangeRecords: ExchangeRecord {
    private let records: [any ExchangeRecord]

    init(_ records: [any ExchangeRecord]) { self.records = records }

    func take(_ event: TransferEvent) { for record in records { record.take(event) } }
    func noteUpgrade() { for record in records { record.noteUpgrade() } }
    func end(_ error: NetworkError?) { for record in records { record.end(error) } }
}
