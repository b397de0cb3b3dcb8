#if Metrics && Outbox
public import CoreMetrics
public import RxLite
public import RxOutbox

extension Outbox {
    /// Records the metrics of the outbox until the subscription is cancelled. Their names begin with
    /// `rxnetworking.outbox`; the page [Metrics](<doc:Metrics>) has a table of them.
    ///
    /// ```swift
    /// outbox.recordMetrics()
    /// ```
    ///
    /// - Parameter factory: makes the metrics. Default: the current factory of the task or of the program.
    @discardableResult
    public func recordMetrics(in factory: any MetricsFactory = MetricsSystem.factory) -> Subscription {
        let states = state.observable.map { OutboxNews.state($0) }
        return Observable.merge(states, events.map { OutboxNews.event($0) })
            .subscribe(onNext: { news in
                switch news {
                case .state(let state): state.record(in: factory)
                case .event(let event): event.record(in: factory)
                }
            })
    }
}

/// The metrics of an outbox, by the names under which a factory of swift-metrics gets them. Dashboards and the page
/// `Metrics.md` have the names.
package enum OutboxMetric: String, Sendable, Hashable, CaseIterable {
    /// The number of entries in the store, a `Meter`. `rxnetworking.outbox.phase` says which: `queued`, `sending`,
    /// `waiting`, `dead`.
    case entries = "rxnetworking.outbox.entries"
    /// Whether this process sends the entries, a `Meter`: 1 or 0.
    case sender = "rxnetworking.outbox.sender"
    /// The number of entries that this process has written, a `Counter`, with `rxnetworking.outbox.endpoint`, as the
    /// following.
    case enqueued = "rxnetworking.outbox.enqueued"
    /// The number of failed attempts after which another one follows, a `Counter`.
    case failedAttempts = "rxnetworking.outbox.attempts.failed"
    /// The number of entries that have become dead letters, a `Counter`.
    case deaths = "rxnetworking.outbox.deaths"
    /// The time from writing an entry to its delivery. Histogram in seconds, a `Timer`.
    case deliveryDuration = "rxnetworking.outbox.delivery.duration"
    /// The number of failures of the store, a `Counter`, without attributes.
    case storeFailures = "rxnetworking.outbox.store.failures"
}

private enum OutboxNews: Sendable {
    case state(OutboxState)
    case event(OutboxEvent)
}

extension OutboxState {
    fileprivate func record(in factory: any MetricsFactory) {
        // The values of the attribute are documented at ``OutboxMetric/entries``.
        let phases = [
            ("queued", counts.queued), ("sending", counts.sending), ("waiting", counts.waiting),
            ("dead", counts.dead),
        ]
        for (phase, count) in phases {
            Meter(
                label: OutboxMetric.entries.rawValue, dimensions: [("rxnetworking.outbox.phase", phase)],
                factory: factory
            ).set(count)
        }
        Meter(label: OutboxMetric.sender.rawValue, dimensions: [], factory: factory)
            .set(role == .sender ? 1 : 0)
    }
}

extension OutboxEvent {
    fileprivate func record(in factory: any MetricsFactory) {
        func count(_ metric: OutboxMetric, _ entry: OutboxEntry?) {
            Counter(label: metric.rawValue, dimensions: Self.dimensions(entry), factory: factory).increment()
        }
        switch self {
        case .enqueued(let entry): count(.enqueued, entry)
        case .waiting(let entry): count(.failedAttempts, entry)
        case .died(let entry): count(.deaths, entry)
        case .delivered(let entry, let time):
            Timer(
                label: OutboxMetric.deliveryDuration.rawValue, dimensions: Self.dimensions(entry),
                factory: factory
            ).recordNanoseconds(time.nanoseconds)
        case .storeFailed: count(.storeFailures, nil)
        case .sending, .replaced, .role: break
        }
    }

    private static func dimensions(_ entry: OutboxEntry?) -> [(String, String)] {
        entry.map { [("rxnetworking.outbox.endpoint", $0.name)] } ?? []
    }
}
#endif
