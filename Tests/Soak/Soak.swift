import Foundation
import RxNetworking
import RxSimulation
import RxTesting
import Synchronization

/// Sends requests one after the other in each of several slots, with faults mixed in by a seed, and counts
/// the outcomes.
final class Soak: Sendable {
    private struct State {
        var random: SeededRandom
        var report: Report
        var running = 0
    }

    private let client: Client
    private let recording: HARRecording?
    private let loop: EventLoop
    private let total: Int
    private let state: Mutex<State>
    private let isDone: @Sendable () -> Void
    /// Each fault as often as its weight demands.
    private static let deck = Fault.all.indices.flatMap { Array(repeating: $0, count: Fault.all[$0].weight) }

    /// - Parameter isRecorded: whether all requests are recorded, which must not take memory either.
    init(
        _ total: Int, seed: UInt64, baseURL: String, over transport: CurlTransport, isRecorded: Bool,
        isDone: @escaping @Sendable () -> Void
    ) {
        var configuration = ClientConfiguration()
        // One request must show the effect of the server's fault on it.
        configuration.options.retry = .never
        client = Client(baseURL: baseURL, configuration: configuration, transport: transport)
        recording = isRecorded ? HARRecording(of: client.traffic, bodyLimit: 1024, entryLimit: 100) : nil
        loop = transport.loop
        self.total = total
        self.isDone = isDone
        state = Mutex(State(random: SeededRandom(seed), report: Report(seed: seed)))
    }

    var report: Report { state.withLock { $0.report } }

    /// Starts as many requests at a time as `slots`.
    func start(slots: Int) {
        state.withLock { $0.running = slots }
        for _ in 0..<slots { loop.schedule { self.sendNext() } }
    }

    private func sendNext() {
        let (fault, isLast) = state.withLock { state -> (Fault?, Bool) in
            guard state.report.sent < total else {
                state.running -= 1
                return (nil, state.running == 0)
            }
            state.report.sent += 1
            if state.report.sent % max(1, total / 20) == 0 { state.report.measure() }
            return (Fault.all[Self.deck.randomElement(using: &state.random) ?? 0], false)
        }
        guard let fault else { return isLast ? isDone() : () }
        let attempt = Attempt()
        let subscription = client.request(SoakCall(fault)).subscribe(
            onNext: { response in attempt.note("\(response.status.code)") },
            onEnd: { completion in
                if case .failed(let error) = completion {
                    attempt.note(error.code == .status ? "\(error.status?.code ?? 0)" : error.code.rawValue)
                }
                self.end(fault, attempt)
            })
        guard fault.isCancelled else { return }
        _ = loop.schedule(after: .milliseconds(2)) {
            guard attempt.isOpen else { return }
            subscription.cancel()
            attempt.note("cancelled")
            self.end(fault, attempt)
        }
    }

    private func end(_ fault: Fault, _ attempt: Attempt) {
        let (outcome, isFirst) = attempt.end()
        guard isFirst else {
            return state.withLock { $0.report.unexpected["\(fault.name) ended twice", default: 0] += 1 }
        }
        state.withLock { state in
            state.report.outcomes[outcome, default: 0] += 1
            if !fault.allowed.contains(outcome) {
                state.report.unexpected["\(fault.name): \(outcome)", default: 0] += 1
            }
        }
        loop.schedule { self.sendNext() }
    }
}

/// The outcome of one request.
private final class Attempt: Sendable {
    private let state = Mutex((outcome: "nothing", ends: 0))

    /// The latest known outcome.
    func note(_ outcome: String) { state.withLock { $0.outcome = outcome } }

    var isOpen: Bool { state.withLock { $0.ends == 0 } }

    func end() -> (outcome: String, isFirst: Bool) {
        state.withLock { state in
            state.ends += 1
            return (state.outcome, state.ends == 1)
        }
    }
}

private struct SoakCall: Endpoint {
    typealias Output = Response
    let fault: Fault

    init(_ fault: Fault) { self.fault = fault }

    var path: String { fault.path }
    var method: HTTPRequest.Method { fault.method }
    var options: RequestOptions {
        RequestOptions(timeouts: fault.timeouts, cachePolicy: fault.isCached ? .http : .never)
    }
    var parameters: Parameters {
        fault.method == .post ? .text(String(repeating: "o", count: 1024)) : .none
    }
}
