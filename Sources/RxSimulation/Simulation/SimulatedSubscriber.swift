import RxHTTP
import RxLite
import RxTesting
import Synchronization

/// One subscription of a simulated process, with its events.
public struct SimulatedSubscription: Sendable {
    /// Its name: the one given, and a number that counts such subscriptions from 1, as in `cart #1`.
    public let place: String
    /// The name without the number.
    public let name: String
    /// The virtual time of the subscription.
    public let startedAt: Duration
    /// The values, as text.
    public internal(set) var values: [String] = []
    /// The event that ended it, if it has ended: ``SimulationEvent/Kind/finished``, `failed`, `cancelled` or `killed`, and
    /// never another.
    public internal(set) var end: SimulationEvent.Kind?
    /// Whether the end of the run cancelled it.
    public internal(set) var isCutOff = false
}

/// The subscriber to one stream of a simulated process: records the events, and cancels and pauses as the faults say.
final class SimulatedSubscriber: Cancellable {
    private struct Contents {
        var subscription: Subscription?
        var end: SimulationEvent.Kind?
        /// The pauses that began before the subscription was known.
        var earlyPauses = 0
        var hasPaused = false
    }

    private let place: String
    private let index: Int
    private let simulation: Simulation
    private let scheduler: ProcessScheduler
    private let contents = Mutex(Contents())

    init(_ name: String, in process: SimulatedProcess) {
        simulation = process.simulation
        scheduler = process.ownScheduler
        let place = simulation.nextPlace(name)
        self.place = place
        let record = SimulatedSubscription(place: place, name: name, startedAt: simulation.clock.now)
        index = simulation.contents.withLock { contents in
            contents.log.subscriptions.append(record)
            return contents.log.subscriptions.count - 1
        }
        simulation.note(place, .subscribed)
    }

    func start<Element, Failure: Error>(
        _ stream: Observable<Element, Failure>, describing: @escaping @Sendable (Element) -> String,
        onNext: @escaping @Sendable (Element) -> Void, onEnd: @escaping @Sendable (Bool) -> Void
    ) {
        var pause: (time: Duration, fault: Fault)?
        for fault in simulation.plan.faults(at: place, of: .subscription, time: simulation.clock.now) {
            switch fault {
            case .cancel(let delay):
                _ = scheduler.schedule(after: delay) { [weak self] in self?.cancel(by: fault) }
            case .slowReader(let time): pause = (time, fault)
            default: break
            }
        }
        let subscription = stream.observe(
            onNext: { [pause] value in
                self.take(describing(value))
                if let pause { self.pause(for: pause.time, by: pause.fault) }
                onNext(value)
            },
            onEnd: { completion in
                switch completion {
                case .finished: self.end(.finished)
                case .failed(let error):
                    let text = (error as? NetworkError)?.code.rawValue ?? "\(error)"
                    self.end(.failed(text))
                }
                onEnd(completion.isSuccess)
            })
        let (pauses, hasEnded) = contents.withLock { contents in
            contents.subscription = subscription
            return (contents.earlyPauses, contents.end != nil)
        }
        for _ in 0..<pauses { subscription.pause() }
        if hasEnded { subscription.cancel() }
    }

    /// Cancels the subscription, if it has not ended.
    func cancel() { cancel(by: nil) }

    /// The cancel at the end of the run.
    func cutOff() {
        guard contents.withLock({ $0.end == nil }) else { return }
        simulation.contents.withLock { $0.log.subscriptions[index].isCutOff = true }
        cancel(by: nil)
    }

    private func cancel(by fault: Fault?) {
        guard contents.withLock({ $0.end == nil }) else { return }
        if let fault { simulation.note(place, .fault(fault)) }
        end(.cancelled)
        contents.withLock { $0.subscription }?.cancel()
    }

    func kill(isLogged: Bool) {
        if isLogged, contents.withLock({ $0.end == nil }) { end(.killed) }
        let subscription = contents.withLock { contents in
            contents.end = contents.end ?? .killed
            defer { contents.subscription = nil }
            return contents.subscription
        }
        subscription?.cancel()
    }

    private func take(_ text: String) {
        if let end = contents.withLock({ $0.end }) {
            guard end != .killed else { return }
            return simulation.violate("the grammar of streams", "\(place) got a value after its end (\(end))")
        }
        simulation.contents.withLock { $0.log.subscriptions[index].values.append(text) }
        simulation.note(place, .value(text))
    }

    private func end(_ end: SimulationEvent.Kind) {
        let former = contents.withLock { contents in
            defer { contents.end = contents.end ?? end }
            return contents.end
        }
        if let former {
            guard former != .killed else { return }
            return simulation.violate(
                "the grammar of streams", "\(place) ended twice: \(former), then \(end)")
        }
        simulation.contents.withLock { $0.log.subscriptions[index].end = end }
        simulation.note(place, end)
    }

    private func pause(for time: Duration, by fault: Fault) {
        let (subscription, isFirst) = contents.withLock { contents in
            defer { contents.hasPaused = true }
            if contents.subscription == nil { contents.earlyPauses += 1 }
            return (contents.subscription, !contents.hasPaused)
        }
        if isFirst { simulation.note(place, .fault(fault)) }
        subscription?.pause()
        _ = scheduler.schedule(after: time) { [weak self] in
            self?.contents.withLock { $0.subscription }?.resume()
        }
    }
}

extension Completion {
    fileprivate var isSuccess: Bool {
        if case .finished = self { true } else { false }
    }
}
