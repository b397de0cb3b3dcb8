import FoundationEssentials
import HTTPTypes
import RxHTTP
import RxLite
import RxTesting
import Synchronization

/// The transport of a simulated process.
final class SimulatedTransport: Transport {
    let scheduler: any Scheduler
    private let simulation: Simulation
    private let process: String
    let files: any FileSystem
    private let own: ProcessScheduler

    init(
        _ simulation: Simulation, process: String, _ files: any FileSystem, on scheduler: ProcessScheduler
    ) {
        self.simulation = simulation
        self.process = process
        self.files = files
        self.scheduler = scheduler
        own = scheduler
    }

    func send(_ request: Request) -> Observable<TransferEvent, NetworkError> {
        Observable(scheduler: scheduler) { [self] observer in
            // A killed process sends nothing, even if the end of one of its calls lets another go on.
            guard observer.scope.isOpen else { return }
            guard own.isAlive else {
                return own.whenOver { observer.scope.enter { observer.end(.failed(.ofKilledProcess)) } }
            }
            SimulatedCall(request, of: process, in: simulation, files, on: own, to: observer).start()
        }
    }
}

extension NetworkError {
    /// Ends the streams of a killed process when the run is over. A login that several callers share, for example, ends
    /// only with its response, and would stay in memory.
    static var ofKilledProcess: NetworkError { NetworkError(.cancelled, "the process was killed") }
}

/// One running exchange of a simulation: the way of the request to its server, and of the response back.
final class SimulatedCall: @unchecked Sendable {
    // Unchecked: the variables are accessed only inside the subscription's lane, which is serial; `server` only by the one
    // thread of the simulation.

    /// The time of a message without a fault.
    private static let latency = Duration.milliseconds(1)

    let scheduler: ProcessScheduler
    private(set) var server: SimulatedServer?
    private let request: Request
    private let simulation: Simulation
    private let files: any FileSystem
    private let observer: Observer<TransferEvent, NetworkError>
    private let place: String
    private let index: Int
    private let faults: [Fault]
    private let begun: Duration
    /// The outcome that is noted when the scope closes: a cancel, unless the playback has reported another end.
    private var outcome = SimulatedExchange.Outcome.cancelled
    private var body: [UInt8] = []
    private var playback: Playback?
    private var webSocket: WebSocketPlayback?
    private var timers: [any Cancellable] = []
    private var limits: ExchangeLimits?
    private var isKilled = false

    init(
        _ request: Request, of process: String, in simulation: Simulation, _ files: any FileSystem,
        on scheduler: ProcessScheduler, to observer: Observer<TransferEvent, NetworkError>
    ) {
        self.files = files
        self.request = request
        self.simulation = simulation
        self.scheduler = scheduler
        self.observer = observer
        begun = scheduler.now
        let (now, path) = (simulation.clock.now, request.url.path(percentEncoded: false))
        let place = simulation.nextPlace("\(request.method.rawValue) \(path)")
        self.place = place
        let record = SimulatedExchange(place: place, process: process, request: request, sentAt: now)
        index = simulation.contents.withLock { contents in
            contents.log.exchanges.append(record)
            return contents.log.exchanges.count - 1
        }
        simulation.note(place, .sent)
        faults = simulation.plan.faults(at: place, of: .exchange, time: now)
    }

    func start() {
        simulation.contents.withLock { $0.calls[index] = self }
        observer.scope.onClose { self.close() }
        limits = ExchangeLimits(request.timeouts, on: scheduler, in: observer.scope) { [weak self] error in
            self?.fail(error)
        }
        wait(Self.latency) { self.connect() }
    }

    // MARK: - The request

    private func connect() {
        server = simulation.server(of: request)
        guard let server else { return fail(.resolve, "the simulation has no such server", isUnsent: true) }
        if strikes(.reset(.beforeSending)) || server.isOff {
            return fail(.connect, "the server refused the connection", isUnsent: true)
        }
        guard case .streamed(let streamed) = request.body else {
            if case .bytes(let bytes) = request.body { body = bytes }
            return uploaded()
        }
        let scope = observer.scope.child()
        streamed.content(from: files).flatMap(.concat) { $0.chunks }.subscribe(
            Observer(
                scope: scope, next: { self.body += $0 },
                end: { completion in
                    scope.close()
                    switch completion {
                    case .finished: self.uploaded()
                    case .failed(let error): self.end([.fail(error)])
                    }
                }))
    }

    private func uploaded() {
        if strikes(.reset(.duringUpload)) { return lose() }
        limits?.enter(.waiting)
        var delay = Self.latency
        for case .requestDelay(let more) in faults {
            simulation.note(place, .fault(.requestDelay(more)))
            delay += more
        }
        wait(delay) { self.arrive() }
    }

    // MARK: - The response

    private func arrive() {
        guard let server, !server.isOff else { return lose() }
        for case .status(let code, let seconds) in faults {
            simulation.note(place, .fault(.status(code, retryAfter: seconds)))
            let headers: HTTPFields = seconds.map { [.retryAfter: "\($0)"] } ?? [:]
            return respond(.status(.init(code: code), headers: headers))
        }
        let (now, index) = (simulation.clock.now, index)
        simulation.note(place, .received)
        simulation.contents.withLock { $0.log.exchanges[index].receivedAt = now }
        let reply = server.answer(SimulatedRequest(request: request, body: body, place: place, time: now))
        if strikes(.reset(.beforeHead)) { return lose() }
        respond(reply)
    }

    private func respond(_ reply: ScriptedTransport.Reply) {
        var delay = Self.latency
        for case .responseDelay(let more) in faults {
            simulation.note(place, .fault(.responseDelay(more)))
            delay += more
        }
        let status = reply.webSocket == nil ? reply.steps.status : .switchingProtocols
        simulation.contents.withLock { $0.log.exchanges[index].status = status }
        wait(delay) { self.play(reply) }
    }

    private func play(_ reply: ScriptedTransport.Reply) {
        for case .reset(.open(let time)) in faults {
            wait(time) {
                self.simulation.note(self.place, .fault(.reset(.open(for: time))))
                self.lose()
            }
        }
        if let script = reply.webSocket { return play(script) }
        var steps = reply.steps
        for fault in faults {
            switch fault {
            case .reset(.inBody(let percent)):
                steps = steps.cut(after: percent, .connectionLost, "the connection broke in the body")
            case .truncation(let percent):
                steps = steps.cut(after: percent, .partialBody, "the response ended before it was complete")
            default: continue
            }
            simulation.note(place, .fault(fault))
        }
        end(steps)
    }

    private func play(_ script: ScriptedWebSocket) {
        let index = index
        webSocket = WebSocketPlayback(script, of: request, to: observed, on: scheduler, limits: limits) {
            [simulation] report in
            switch report {
            case .message(let message):
                simulation.contents.withLock { $0.log.exchanges[index].messages.append(message) }
            case .closing: break
            case .end(let outcome): self.outcome = outcome
            }
            return nil
        }
        webSocket?.start()
    }

    /// Plays the rest of the exchange.
    private func end(_ steps: [ScriptedTransport.Step]) {
        guard observer.scope.isOpen else { return }
        if let playback { return playback.replaceRest(by: steps) }
        playback = Playback(
            steps, of: request, to: observed, on: scheduler, since: begun, limits: limits
        ) { self.outcome = $0 }
        playback?.start()
    }

    /// The client, with a log of the heads.
    private var observed: Observer<TransferEvent, NetworkError> {
        Observer(
            scope: observer.scope,
            next: { [observer, simulation, place] event in
                if case .head(let head) = event { simulation.note(place, .head(head.status.code)) }
                observer.next(event)
            }, end: observer.end)
    }

    // MARK: - Ends

    /// Breaks the connection. Also for calls from outside the lane.
    func lose() {
        observer.scope.enter { self.fail(.connectionLost, "the connection broke") }
    }

    /// Ends the exchange with its process: nothing more arrives on either side.
    func kill(isLogged: Bool) {
        isKilled = true
        scheduler.whenOver { [observer] in
            observer.scope.enter { observer.end(.failed(.ofKilledProcess)) }
        }
        if isLogged { simulation.note(place, .killed) }
        finish(.cancelled)
    }

    private func fail(_ code: NetworkError.Code, _ message: String, isUnsent: Bool = false) {
        var error = NetworkError(code, message)
        error.isUnsent = isUnsent
        fail(error)
    }

    private func fail(_ error: NetworkError) {
        // A broken connection stays broken, also while its reader pauses.
        stopTimers()
        if let webSocket { return webSocket.fail(with: error) }
        end([.fail(error)])
    }

    private func close() {
        stopTimers()
        // Their reports refer to the call.
        (playback, webSocket, limits) = (nil, nil, nil)
        guard !isKilled else { return }
        // After the report of the playback, whose teardown runs first.
        let event: SimulationEvent.Kind =
            switch outcome {
            case .finished: .finished
            case .failed(let code): .failed(code.rawValue)
            case .cancelled, .running: .cancelled
            }
        simulation.note(place, event)
        finish(outcome)
    }

    private func finish(_ outcome: SimulatedExchange.Outcome) {
        let (now, index) = (simulation.clock.now, index)
        simulation.contents.withLock { contents in
            guard contents.calls.removeValue(forKey: index) != nil else { return }
            contents.log.exchanges[index].outcome = outcome
            contents.log.exchanges[index].endedAt = now
        }
    }

    // MARK: - Details

    private func strikes(_ fault: Fault) -> Bool {
        guard faults.contains(fault) else { return false }
        simulation.note(place, .fault(fault))
        return true
    }

    private func stopTimers() {
        for timer in timers { timer.cancel() }
        timers = []
    }

    private func wait(_ delay: Duration, _ work: @escaping @Sendable () -> Void) {
        timers.append(
            scheduler.schedule(after: delay) {
                self.observer.scope.enter { if !self.isKilled { work() } }
            })
    }
}

extension [ScriptedTransport.Step] {
    /// The status of the response.
    fileprivate var status: HTTPResponse.Status? {
        for case .head(let head) in self { return head.status }
        return nil
    }

    /// The steps up to a share of the body's bytes, then a failure.
    fileprivate func cut(
        after percent: Int, _ code: NetworkError.Code, _ message: String
    ) -> [ScriptedTransport.Step] {
        let sizes = map { step in if case .chunk(let bytes) = step { bytes.count } else { 0 } }
        var left = sizes.reduce(0, +) * percent / 100
        var steps: [ScriptedTransport.Step] = []
        var hasHead = false
        for (step, size) in zip(self, sizes) {
            switch step {
            case .chunk(let bytes):
                if left > 0 { steps.append(.chunk(Array<UInt8>(bytes.prefix(left)))) }
                left -= size
            case .head:
                steps.append(step)
                hasHead = true
            case .finish, .fail, .stall, .trailers: left = 0
            default: steps.append(step)
            }
            if hasHead, left <= 0 { break }
        }
        return steps + [.fail(NetworkError(code, message))]
    }
}
