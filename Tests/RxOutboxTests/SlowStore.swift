#if Outbox
import Foundation
import RxHTTP
import RxLite
import RxOutbox
import RxTesting
import Synchronization

/// A store in memory whose replies take time, or fail, as a test wants it.
final class SlowStore: OutboxStore {
    struct Times {
        /// How long the entries take from the store to the outbox.
        var load = Duration.zero
        /// How long the news takes that another sender has the lease.
        var loss = Duration.zero
        /// The failure of loading; `nil` for none.
        var loadFailure: NetworkError?
    }

    let base: MemoryOutboxStore
    private let clock: VirtualScheduler
    let times = Mutex(Times())

    init(_ base: MemoryOutboxStore, on clock: VirtualScheduler) {
        self.base = base
        self.clock = clock
    }

    var pollInterval: Duration? { base.pollInterval }

    func add(_ entry: OutboxEntry, _ content: Data) -> Observable<OutboxAddition, NetworkError> {
        base.add(entry, content)
    }

    func load() -> Observable<OutboxSnapshot, NetworkError> {
        .deferred { [self] in
            let (time, failure) = times.withLock { ($0.load, $0.loadFailure) }
            if let failure { return .fail(failure) }
            return time > .zero ? base.load().delay(time, on: clock) : base.load()
        }
    }

    func content(of id: OutboxID) -> Observable<Data?, NetworkError> { base.content(of: id) }

    func change(
        _ change: OutboxChange, under lease: OutboxLease?
    ) -> Observable<OutboxChange.Outcome, NetworkError> {
        base.change(change, under: lease).flatMap { [self] outcome in
            let time = times.withLock { $0.loss }
            let report = Observable<OutboxChange.Outcome, NetworkError>.just(outcome)
            return outcome == .leaseLost && time > .zero ? report.delay(time, on: clock) : report
        }
    }

    func receipt(of id: OutboxID) -> Observable<OutboxReceipt?, NetworkError> { base.receipt(of: id) }

    func removeReceipts(before date: Date, keeping limit: Int) -> Observable<Void, NetworkError> {
        base.removeReceipts(before: date, keeping: limit)
    }

    func revision() -> Observable<Int64, NetworkError> { base.revision() }

    func lease(renewing held: OutboxLease?, at now: Date) -> Observable<OutboxLease?, NetworkError> {
        base.lease(renewing: held, at: now)
    }

    func release(_ lease: OutboxLease) -> Observable<Void, NetworkError> { base.release(lease) }

    func close() -> Observable<Void, NetworkError> { base.close() }
}
#endif
