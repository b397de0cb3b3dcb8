#if Outbox
package import FoundationEssentials
package import RxHTTP
package import RxLite
package import RxOutbox

/// A store that passes its operations on to another one. A test implements those that it changes or watches.
package protocol ForwardingOutboxStore: OutboxStore {
    associatedtype Base: OutboxStore

    /// The other store.
    var base: Base { get }
}

extension ForwardingOutboxStore {
    package var pollInterval: Duration? { base.pollInterval }

    package func add(_ entry: OutboxEntry, _ content: Data) -> Observable<OutboxAddition, NetworkError> {
        base.add(entry, content)
    }

    package func load() -> Observable<OutboxSnapshot, NetworkError> { base.load() }

    package func content(of id: OutboxID) -> Observable<Data?, NetworkError> { base.content(of: id) }

    package func change(
        _ change: OutboxChange, under lease: OutboxLease?
    ) -> Observable<OutboxChange.Outcome, NetworkError> {
        base.change(change, under: lease)
    }

    package func receipt(of id: OutboxID) -> Observable<OutboxReceipt?, NetworkError> { base.receipt(of: id) }

    package func removeReceipts(before date: Date, keeping limit: Int) -> Observable<Void, NetworkError> {
        base.removeReceipts(before: date, keeping: limit)
    }

    package func revision() -> Observable<Int64, NetworkError> { base.revision() }

    package func lease(renewing held: OutboxLease?, at now: Date) -> Observable<OutboxLease?, NetworkError> {
        base.lease(renewing: held, at: now)
    }

    package func release(_ lease: OutboxLease) -> Observable<Void, NetworkError> { base.release(lease) }

    package func close() -> Observable<Void, NetworkError> { base.close() }
}
#endif
