public import RxLite
import Synchronization

/// Where the events of all requests of a client come together.
///
/// While nobody listens, a request costs one look at ``isObserved``.
final class TrafficHub: Sendable {
    private let signal = Signal<TrafficEvent>()
    private let isClosed = State(false)
    private let listeners = Atomic<Int>(0)

    /// Whether anybody listens.
    var isObserved: Bool { listeners.load(ordering: .relaxed) > 0 }

    /// The events from the time of subscription on, until the client is gone.
    var events: Observable<TrafficEvent, Never> {
        Observable { observer in
            self.listeners.add(1, ordering: .relaxed)
            observer.scope.onClose { self.listeners.subtract(1, ordering: .relaxed) }
            let closed = self.isClosed.observable.filter { $0 }
            self.signal.observable.take(until: closed).subscribe(observer)
        }
    }

    func send(_ event: TrafficEvent) { signal.send(event) }

    /// Ends the events.
    func close() { isClosed.value = true }
}

extension Client {
    /// Everything that happens to the requests of this client which begin from the subscription on: the one place
    /// that logs, recordings and indicators listen to.
    ///
    /// ```swift
    /// client.traffic.log(to: Logger(label: "api"))
    /// ```
    ///
    /// Events arrive on the request's thread, those of one request in order. A subscriber blocks that thread, so put a
    /// slow one behind `observe(on:)`. Ends when the client is released. Without listeners it costs
    /// nothing.
    public var traffic: Observable<TrafficEvent, Never> { trafficHub.events }
}
