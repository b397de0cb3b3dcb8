public import RxLite
import Synchronization

/// Distributes the events of all requests of a client.
///
/// Without subscribers, the cost of a request is one read of ``isObserved``.
final class TrafficHub: Sendable {
    private let signal = Signal<TrafficEvent>()
    private let isClosed = State(false)
    private let listeners = Atomic<Int>(0)

    /// Whether there is a subscriber.
    var isObserved: Bool { listeners.load(ordering: .relaxed) > 0 }

    /// The events from the time of subscription on, until the client is released.
    var events: Observable<TrafficEvent, Never> {
        Observable { observer in
            self.listeners.add(1, ordering: .relaxed)
            observer.scope.onClose { self.listeners.subtract(1, ordering: .relaxed) }
            let closed = self.isClosed.observable.filter { $0 }
            self.signal.observable.take(until: closed).subscribe(observer)
        }
    }

    func send(_ event: TrafficEvent) { signal.send(event) }

    /// Ends the stream of events.
    func close() { isClosed.value = true }
}

extension Client {
    /// All events of the client's requests that begin after the subscription: the common source of logs,
    /// recordings and indicators.
    ///
    /// ```swift
    /// client.traffic.log(to: Logger(label: "api"))
    /// ```
    ///
    /// Events arrive on the request's thread; the events of one request arrive in order. A subscriber blocks
    /// that thread, so put a slow one behind `observe(on:)`. Ends when the client is released. Without
    /// subscribers it costs nothing.
    public var traffic: Observable<TrafficEvent, Never> { trafficHub.events }
}
