public import RxLite
import Synchronization

/// Distributes the events of all requests of a client.
///
/// Without observers, the cost of a request is one read of ``isObserved``.
final class TrafficHub: Sendable {
    /// The observers of a client's requests.
    struct Observers: Sendable {
        /// The number of subscribers that are shown all requests.
        var subscribers = 0
        /// The choices of the subscribers that are shown some requests.
        var samplings: [RequestSampling] = []
        /// The instruments that watch the client's calls.
        var instruments: [any CallInstrument] = []
    }

    private let signal = Signal<TrafficEvent>()
    private let isClosed = MutableProperty(false)
    /// The number of subscribers and instruments.
    private let count = Atomic<Int>(0)
    private let contents = Mutex(Observers())
    /// The settings of developer tools, the latest last.
    private let settings = MutableProperty<[(owner: ObjectIdentifier, tools: DeveloperTools)]>([])

    /// Whether there is a subscriber or an instrument.
    var isObserved: Bool { count.load(ordering: .relaxed) > 0 }
    /// The observers of a request that begins now.
    var observers: Observers { contents.withLock { $0 } }

    /// The events from the time of subscription on, until the client is released.
    var events: Observable<TrafficEvent, Never> {
        observing(signal.observable, { $0.subscribers += 1 }, until: { $0.subscribers -= 1 })
    }

    /// The events of the requests that a sampling chooses, from the time of subscription on.
    func events(_ sampling: RequestSampling) -> Observable<TrafficEvent, Never> {
        let chosen = signal.observable.filter { event in event.samplings.contains { $0 === sampling } }
        return observing(
            chosen, { $0.samplings.append(sampling) },
            until: { $0.samplings.removeAll { $0 === sampling } })
    }

    /// Lets an instrument watch the calls that begin from now on, until the subscription is cancelled or the client is
    /// released.
    func attach(_ instrument: any CallInstrument) -> Subscription {
        let registration = observing(
            Observable<Never, Never>.never(), { $0.instruments.append(instrument) },
            until: { $0.instruments.removeAll { $0 === instrument } })
        return Observable<Never, Never> { observer in
            // Registered first, so that it runs last: no new call has the instrument any more.
            observer.scope.onClose { instrument.stop() }
            registration.subscribe(observer)
        }
        .subscribe()
    }

    /// The stream until the client is released, with an observer during each subscription.
    private func observing<Element>(
        _ stream: Observable<Element, Never>, _ join: @escaping @Sendable (inout Observers) -> Void,
        until leave: @escaping @Sendable (inout Observers) -> Void
    ) -> Observable<Element, Never> {
        Observable { observer in
            self.contents.withLock { join(&$0) }
            self.count.add(1, ordering: .relaxed)
            observer.scope.onClose {
                self.count.subtract(1, ordering: .relaxed)
                self.contents.withLock { leave(&$0) }
            }
            stream.take(until: self.isClosed.observable.filter { $0 }).subscribe(observer)
        }
    }

    /// The settings of all developer tools together. They apply to observed requests only.
    var tools: DeveloperTools { DeveloperTools(combining: settings.value.map(\.tools)) }

    /// The network to emulate, now and after each change.
    var networks: Observable<EmulatedNetwork?, Never> {
        settings.observable.map { DeveloperTools(combining: $0.map(\.tools)).network }.distinctUntilChanged()
    }

    /// Replaces the settings of one of the developer tools. The owner is not held: it must withdraw its settings before
    /// it is released.
    func apply(_ tools: DeveloperTools, of owner: AnyObject) {
        let owner = ObjectIdentifier(owner)
        settings.update { settings in
            settings.removeAll { $0.owner == owner }
            if tools != DeveloperTools() { settings.append((owner, tools)) }
        }
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

// MARK: - Sampling

/// Chooses the requests that an observer is shown: all, or as many as a rate allows. Safe from any thread.
package final class RequestSampling: Sendable {
    private struct Progress {
        var bucket: TokenBucket?
        var omitted = 0
        var isSuspended = false
        /// Called when the next request is omitted.
        var onOmission: (@Sendable () -> Void)?
    }

    private let progress: Mutex<Progress>
    private let start = ContinuousClock.now

    /// - Parameter rate: the rate of the shown requests, in real time; `nil` for all requests.
    package init(_ rate: RequestRate?) {
        progress = Mutex(Progress(bucket: rate.map { TokenBucket($0) }))
    }

    /// Whether no request is shown that begins meanwhile, because the observer is behind. Default false.
    package var isSuspended: Bool {
        get { progress.withLock { $0.isSuspended } }
        set { progress.withLock { $0.isSuspended = newValue } }
    }

    /// The number of requests that were not shown so far.
    package var omittedCount: Int { progress.withLock { $0.omitted } }

    /// Runs `body` once, when the next request is omitted. Replaces the body of the call before.
    package func onNextOmission(_ body: @escaping @Sendable () -> Void) {
        progress.withLock { $0.onOmission = body }
    }

    /// Whether the request that begins now is shown. To be asked once for each, since it counts them.
    func admits() -> Bool {
        let now = ContinuousClock.now - start
        var onOmission: (@Sendable () -> Void)?
        let isShown = progress.withLock { progress in
            guard !progress.isSuspended, progress.bucket?.wait(at: now) ?? .zero == .zero else {
                progress.omitted += 1
                onOmission = progress.onOmission.take()
                return false
            }
            progress.bucket?.take(at: now)
            return true
        }
        onOmission?()
        return isShown
    }
}
