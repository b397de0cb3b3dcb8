import HTTPTypes
import RxHTTP
import RxLite
import Synchronization

/// Tells a client's instruments, and the subscribers of its traffic, about one call. Calls that neither watches have no
/// trace, unless developer tools change them.
///
/// Not a distributed trace, which RxTracing makes as one of the instruments: this passes each event of the call on to the
/// instruments' record and to the traffic report. A new event goes through ``emit(_:)``, so that both get it.
final class Trace: RecordedCall, @unchecked Sendable {
    // Unchecked: constants and a mutex, apart from the record, which is set once, at the end of the initializer.

    private struct Progress {
        /// Whether the subscriber has received the result.
        var hasResult = false
        /// The failure of the call that causes its exchanges to be abandoned.
        var failure: NetworkError?
    }

    /// Whether developer tools have disabled the cache at the beginning of the request.
    let isCacheDisabled: Bool
    /// Whether developer tools may change the network of the request.
    private let isInspected: Bool
    private let hub: TrafficHub
    /// Shows the call to the traffic, if that had a subscriber for the request when it began.
    fileprivate let report: TrafficReport?
    /// The instruments' record of the call.
    @safe @exclusivity(unchecked) private var instrumentRecord: (any CallRecord)?
    /// Whether an instrument watches the begin and the end of the call.
    private let watchesCall: Bool
    private let progress = Mutex(Progress())

    fileprivate init(
        _ request: Request, _ kind: CallKind, _ endpoint: (any Endpoint)?, isPage: Bool, in hub: TrafficHub,
        at servers: ServerPair, on scheduler: any Scheduler, for observers: TrafficHub.Observers,
        _ samplings: [RequestSampling], _ tools: DeveloperTools
    ) {
        self.hub = hub
        isCacheDisabled = tools.isCacheDisabled
        // Only developer tools use samplings; they may begin to emulate a network during the request.
        isInspected = !samplings.isEmpty || tools.network != nil
        let isShown = observers.subscribers > 0 || !samplings.isEmpty
        report =
            isShown
            ? TrafficReport(request, CallOrigin(kind, endpoint), in: hub, on: scheduler, for: samplings) : nil
        let instruments = observers.instruments
        watchesCall = instruments.contains { $0.watchesCalls }
        super.init(request, kind, path: endpoint?.path, isPage: isPage, at: servers, on: scheduler)
        // Usually there is one, which needs no list.
        switch instruments.count {
        case 0: instrumentRecord = nil
        case 1: instrumentRecord = instruments[0].record(of: self)
        default: instrumentRecord = CallRecords(instruments.map { $0.record(of: self) })
        }
    }

    /// Whether the traffic has subscribers that see the call.
    var isShown: Bool { report != nil }

    /// Reports an event.
    func emit(_ kind: TrafficEvent.Kind) {
        instrumentRecord?.receive(kind, of: self)
        report?.emit(kind)
    }

    /// Reports that the call makes its output.
    func recordOutput() { instrumentRecord?.recordOutput(of: self) }

    func begin(in lane: Lane) {
        if watchesCall { instrumentRecord?.begin(self, in: lane) }
    }

    /// Reports the use of the cache for the response.
    func emitCached(_ use: Response.CacheUse, _ head: ResponseHead?, body: [UInt8] = []) {
        instrumentRecord?.receive(.cached(use, head), of: self)
        report?.emitCached(use, head, body: body)
    }

    /// Begins the report of an exchange. Its instruments may change the request.
    ///
    /// - Returns: the instruments' record, and the number in the traffic, where anything observes them.
    func begin(
        _ request: inout Request, at server: Server?, _ host: HostState?
    ) -> (instrumentRecord: (any ExchangeRecord)?, trafficNumber: Int?) {
        // Instruments first: they may add fields, and the report shows what is sent.
        let exchange = instrumentRecord?.exchange(
            &request, to: destination(of: request, server, host), of: self)
        return (exchange, report?.begin(request))
    }

    /// - Parameters:
    ///   - server: the server of the attempt, from which redirects may lead away.
    ///   - host: the state of its host.
    private func destination(
        of request: Request, _ server: Server?, _ host: HostState?
    ) -> ExchangeDestination {
        // A URL below a server's base URL needs no parsing.
        let found = servers.server(of: request.urlText, server)
        if let found, found === server, found.host === host { return found.destination }
        let origin = found.map(\.origin) ?? Origin(request.url)
        let isAtHost = found === server || origin == server?.origin
        return ExchangeDestination(
            origin: origin, basePath: found?.basePath,
            breaker: isAtHost ? host?.breaker : nil)
    }

    /// The exchange as over the network that developer tools emulate, if any emulate one.
    func emulated(
        _ request: Request, _ next: @autoclosure () -> Next
    ) -> Observable<TransferEvent, NetworkError>? {
        isInspected ? next().transfers(request).emulating(hub, for: request, on: scheduler) : nil
    }

    /// Records why the exchanges that have not ended are about to be abandoned: not because the subscriber leaves.
    func recordFailure(_ error: NetworkError) { progress.withLock { $0.failure = error } }

    /// The reason why exchanges are abandoned; `nil` if no subscriber waits for them.
    var failure: NetworkError? { progress.withLock { $0.failure } }

    /// Records that the subscriber has received the result; leaving is not a cancellation from now on.
    func recordResult() { progress.withLock { $0.hasResult = true } }

    func end(_ completion: Completion<NetworkError>?) {
        guard watchesCall || isShown else { return }
        let outcome: RequestOutcome =
            switch completion {
            case .finished: .succeeded
            case .failed(let error): .failed(error)
            case nil: progress.withLock { $0.hasResult } ? .succeeded : .cancelled
            }
        if watchesCall { instrumentRecord?.end(self, outcome) }
        report?.end(outcome)
    }
}

/// Shows one call to the subscribers of a client's traffic.
private final class TrafficReport: Sendable {
    private struct Progress {
        /// The request of the last exchange; before the first, that of the call.
        var request: Request
        var exchange = 0
        /// The exchanges that have not ended.
        var running: Set<Int> = []
        var status: HTTPResponse.Status?
        var bytesReceived: Int64 = 0
        let start: Duration
        /// Whether reporting has ended. Exchanges that continue for other waiting requests belong to those.
        var hasEnded = false
    }

    private let hub: TrafficHub
    private let scheduler: any Scheduler
    /// The samplings that have chosen the request.
    private let samplings: [RequestSampling]
    private let origin: CallOrigin
    private let progress: Mutex<Progress>
    /// The marble of an inspected stream that leads to the request; known only while the call is subscribed to.
    private let cause = StreamCause.ifAttached

    init(
        _ request: Request, _ origin: CallOrigin, in hub: TrafficHub, on scheduler: any Scheduler,
        for samplings: [RequestSampling]
    ) {
        self.origin = origin
        self.hub = hub
        self.scheduler = scheduler
        self.samplings = samplings
        progress = Mutex(Progress(request: request, start: scheduler.now))
    }

    func emit(_ kind: TrafficEvent.Kind) {
        let (request, exchange) = progress.withLock { ($0.request, $0.exchange) }
        emit(kind, of: request, exchange)
    }

    func emit(_ kind: TrafficEvent.Kind, of request: Request, _ exchange: Int) {
        guard progress.withLock({ !$0.hasEnded }) else { return }
        send(kind, of: request, exchange)
    }

    func emitCached(_ use: Response.CacheUse, _ head: ResponseHead?, body: [UInt8]) {
        if let head { progress.withLock { $0.status = head.status } }
        let (request, exchange) = progress.withLock { ($0.request, $0.exchange) }
        guard progress.withLock({ !$0.hasEnded }) else { return }
        send(.cached(use, head), of: request, exchange, body: body)
    }

    private func send(
        _ kind: TrafficEvent.Kind, of request: Request, _ exchange: Int, body: [UInt8] = []
    ) {
        hub.send(
            TrafficEvent(
                kind: kind, request: request, exchange: exchange, time: scheduler.now,
                date: scheduler.currentDate, origin: origin, cachedBody: body, cause: cause,
                samplings: samplings))
    }

    /// Begins the report of an exchange. Returns its number.
    func begin(_ request: Request) -> Int {
        let number = progress.withLock { progress in
            progress.request = request
            progress.status = nil
            progress.exchange += 1
            progress.running.insert(progress.exchange)
            return progress.exchange
        }
        emit(.sent, of: request, number)
        return number
    }

    func record(_ event: TransferEvent, of exchange: Int) {
        switch event {
        case .head(let head): progress.withLock { $0.status = head.status }
        case .chunk(let bytes): progress.withLock { $0.bytesReceived += Int64(bytes.count) }
        case .finished: _ = end(exchange)
        default: break
        }
    }

    /// Records the end of an exchange. Returns whether it had not ended before.
    func end(_ exchange: Int) -> Bool { progress.withLock { $0.running.remove(exchange) != nil } }

    func end(_ outcome: RequestOutcome) {
        let now = scheduler.now
        // Other requests may continue to wait for the exchange.
        let (last, running) = progress.withLock { progress in
            defer { progress.running = [] }
            return (progress.request, progress.running.sorted())
        }
        for exchange in running { emit(.abandoned, of: last, exchange) }
        let (request, exchange, summary) = progress.withLock { progress in
            progress.hasEnded = true
            let summary = TrafficEvent.Summary(
                outcome: outcome, status: progress.status, bytesReceived: progress.bytesReceived,
                attempts: progress.exchange == 0 ? 0 : progress.request.attempt,
                duration: now - progress.start)
            return (progress.request, progress.exchange, summary)
        }
        send(.ended(summary), of: request, exchange)
    }
}

extension Client {
    /// The trace of a request; `nil` if nothing observes it, and no developer tools change it.
    ///
    /// - Parameters:
    ///   - servers: the servers of the request.
    ///   - page: the page that the call loads, if it loads one.
    func trace(
        of request: Request, _ kind: CallKind, _ endpoint: (any Endpoint)?, at servers: ServerPair,
        page: PageRequest?, on scheduler: any Scheduler
    ) -> Trace? {
        guard trafficHub.isObserved else { return nil }
        let (observers, tools) = (trafficHub.observers, trafficHub.tools)
        // All are asked, since each one counts the requests.
        let samplings = observers.samplings.filter { $0.admits() }
        guard
            observers.subscribers > 0 || !samplings.isEmpty || !observers.instruments.isEmpty
                || tools != DeveloperTools()
        else { return nil }
        return Trace(
            request, kind, endpoint, isPage: page != nil, in: trafficHub, at: servers, on: scheduler,
            for: observers, samplings, tools)
    }
}

/// One exchange on its way to the traffic and to the instruments' record.
final class ExchangeTrace {
    // Belongs to one walk; accessed only inside its lane.
    /// The index of the stage that reports the exchange.
    let stageIndex: Int
    private let trace: Trace
    private let request: Request
    /// The number of the exchange in the traffic; `nil` if that has no subscriber for the call.
    private let trafficNumber: Int?
    /// The record of the instruments; `nil` if none watches the exchange.
    private let instrumentRecord: (any ExchangeRecord)?
    private var hasEnded = false

    init(
        _ request: inout Request, of trace: Trace, at server: Server?, _ host: HostState?, stageIndex: Int
    ) {
        (instrumentRecord, trafficNumber) = trace.begin(&request, at: server, host)
        self.request = request
        self.trace = trace
        self.stageIndex = stageIndex
    }

    func receive(_ event: TransferEvent) {
        if let trafficNumber {
            trace.report?.record(event, of: trafficNumber)
            trace.report?.emit(.transfer(event), of: request, trafficNumber)
        }
        guard let instrumentRecord, !hasEnded else { return }
        if case .finished = event { hasEnded = true }
        instrumentRecord.receive(event)
    }

    func recordUpgrade() { if !hasEnded { instrumentRecord?.recordUpgrade() } }

    func end(_ completion: Completion<NetworkError>) {
        guard case .failed(let error) = completion else { return endRecord(nil) }
        if let trafficNumber {
            _ = trace.report?.end(trafficNumber)
            trace.report?.emit(.broken(error), of: request, trafficNumber)
        }
        endRecord(error)
    }

    /// A subscriber that has the complete response may leave before the exchange ends.
    func abandon() {
        endRecord(trace.failure)
        if let trafficNumber, let report = trace.report, report.end(trafficNumber) {
            report.emit(.abandoned, of: request, trafficNumber)
        }
    }

    private func endRecord(_ error: NetworkError?) {
        guard !hasEnded else { return }
        hasEnded = true
        instrumentRecord?.end(error)
    }
}
