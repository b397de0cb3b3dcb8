public import RxLite
import Synchronization

/// Distributes the events of all requests of a client.
///
/// Without subscribers, the cost of a request is one read of ``isObserved``.
final class TrafficHub: Sendable {
    private let signal = Signal<TrafficEvent>()
    private let isClosed = State(false)
    /// The number of subscribers and instruments.
    private let listeners = Atomic<Int>(0)
    private let subscribers = Atomic<Int>(0)
    private let attached = Mutex<[any CallInstrument]>([])
    private let samplings = Mutex<[RequestSampling]>([])
    private let settings = Mutex(DeveloperTools())

    /// Whether there is a subscriber or an instrument.
    var isObserved: Bool { listeners.load(ordering: .relaxed) > 0 }
    /// Whether there is a subscriber.
    var hasSubscribers: Bool { subscribers.load(ordering: .relaxed) > 0 }
    /// The instruments that watch the client's calls.
    var instruments: [any CallInstrument] { attached.withLock { $0 } }

    /// The events from the time of subscription on, until the client is released.
    var events: Observable<TrafficEvent, Never> {
        Observable { observer in
            self.listeners.add(1, ordering: .relaxed)
            self.subscribers.add(1, ordering: .relaxed)
            observer.scope.onClose {
                self.subscribers.subtract(1, ordering: .relaxed)
                self.listeners.subtract(1, ordering: .relaxed)
            }
            self.untilClosed(self.signal.observable).subscribe(observer)
        }
    }

    /// The same for the requests that a sampling chooses. The others cost no more than without subscribers.
    func events(_ sampling: RequestSampling) -> Observable<TrafficEvent, Never> {
        Observable { observer in
            self.samplings.withLock { $0.append(sampling) }
            self.listeners.add(1, ordering: .relaxed)
            observer.scope.onClose {
                self.listeners.subtract(1, ordering: .relaxed)
                self.samplings.withLock { $0.removeAll { $0 === sampling } }
            }
            self.untilClosed(self.signal.observable.filter(\.isSampled)).subscribe(observer)
        }
    }

    /// Whether a sampling chooses the request that begins now.
    func isSampled() -> Bool {
        // Each one counts the requests.
        samplings.withLock { $0 }.reduce(false) { $1.admits() || $0 }
    }

    private func untilClosed<Element>(_ stream: Observable<Element, Never>) -> Observable<Element, Never> {
        stream.take(until: isClosed.observable.filter { $0 })
    }

    /// Lets an instrument watch the calls that begin from now on, until the subscription is cancelled or the client is
    /// released.
    func attach(_ instrument: any CallInstrument) -> Subscription {
        Observable<Never, Never> { observer in
            self.attached.withLock { $0.append(instrument) }
            self.listeners.add(1, ordering: .relaxed)
            observer.scope.onClose {
                self.listeners.subtract(1, ordering: .relaxed)
                self.attached.withLock { $0.removeAll { $0 === instrument } }
                instrument.stop()
            }
            self.untilClosed(Observable<Never, Never>.never()).subscribe(observer)
        }
        .subscribe()
    }

    /// The settings of developer tools. Read for requests with listeners only.
    var tools: DeveloperTools {
        get { settings.withLock { $0 } }
        set { settings.withLock { $0 = newValue } }
    }

    func send(_ event: TrafficEvent) { signal.send(event) }

    /// Ends the stream of events.
    func close() { isClosed.value = true }
}

extension Client {
    /// Lets an instrument watch the calls that begin from now on.
    package func attach(_ instrument: any CallInstrument) -> Subscription { trafficHub.attach(instrument) }

    /// The events of the requests that a sampling chooses.
    package func traffic(_ sampling: RequestSampling) -> Observable<TrafficEvent, Never> {
        trafficHub.events(sampling)
    }

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
