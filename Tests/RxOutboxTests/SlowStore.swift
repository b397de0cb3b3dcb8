#if Outbox
import Foundation
import RxHTTP
import RxLite
import RxOutbox
import RxTesting
import Synchronization
import TestOutboxes

/// A store in memory whose replies take time, or fail, as a test wants it.
final class SlowStore: ForwardingOutboxStore {
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

    func load() -> Observable<OutboxSnapshot, NetworkError> {
        .deferred { [self] in
            let (time, failure) = times.withLock { ($0.load, $0.loadFailure) }
            if let failure { return .fail(failure) }
            return time > .zero ? base.load().delay(time, on: clock) : base.load()
        }
    }

    func change(
        _ change: OutboxChange, under lease: OutboxLease?
    ) -> Observable<OutboxChange.Outcome, NetworkError> {
        base.change(change, under: lease).flatMap { [self] outcome in
            let time = times.withLock { $0.loss }
            let report = Observable<OutboxChange.Outcome, NetworkError>.just(outcome)
            return outcome == .leaseLost && time > .zero ? report.delay(time, on: clock) : report
        }
    }
}
#endif
