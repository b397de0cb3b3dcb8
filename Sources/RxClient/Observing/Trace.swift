import HTTPTypes
import RxHTTP
import RxLite
import Synchronization

/// Tells the listeners of a client what happens to one request. There is none for requests that began while
/// nobody listened.
final class Trace: Sendable {
    private struct Progress {
        var request: Request
        var exchange = 0
        /// The exchanges that have not come to their end.
        var running: Set<Int> = []
        var status: HTTPResponse.Status?
        var bytesReceived: Int64 = 0
        var start: Duration
        var hasResult = false
        /// Nothing more is told. What goes on for others who wait for the same response is theirs.
        var hasEnded = false
    }

    private let hub: TrafficHub
    private let scheduler: any Scheduler
    private let progress: Mutex<Progress>

    fileprivate init(_ request: Request, in client: Client) {
        hub = client.trafficHub
        scheduler = client.scheduler
        progress = Mutex(Progress(request: request, start: scheduler.now))
    }

    /// Tells.
    func tell(_ kind: TrafficEvent.Kind) {
        let (request, exchange) = progress.withLock { ($0.request, $0.exchange) }
        tell(kind, of: request, exchange)
    }

    private func tell(_ kind: TrafficEvent.Kind, of request: Request, _ exchange: Int) {
        guard progress.withLock({ !$0.hasEnded }) else { return }
        send(kind, of: request, exchange)
    }

    /// Tells what a cache has to do with the response.
    func tellCached(_ use: CacheUse, _ head: ResponseHead?) {
        if let head { progress.withLock { $0.status = head.status } }
        tell(.cached(use, head))
    }

    private func send(_ kind: TrafficEvent.Kind, of request: Request, _ exchange: Int) {
        hub.send(
            TrafficEvent(
                kind: kind, request: request, exchange: exchange, time: scheduler.now,
                date: scheduler.currentDate))
    }

    /// The exchange of `request` with what happens to it told.
    func exchange(
        _ request: Request, _ events: Observable<TransferEvent, NetworkError>
    ) -> Observable<TransferEvent, NetworkError> {
        .deferred(on: scheduler) {
            let exchange = self.progress.withLock { progress in
                progress.request = request
                progress.status = nil
                progress.exchange += 1
                progress.running.insert(progress.exchange)
                return progress.exchange
            }
            return events.handleEvents(
                onSubscribe: { self.tell(.sent, of: request, exchange) },
                onNext: { event in
                    self.note(event, of: exchange)
                    self.tell(.transfer(event), of: request, exchange)
                },
                onEnd: { completion in
                    guard case .failed(let error) = completion else { return }
                    self.end(exchange)
                    self.tell(.broken(error), of: request, exchange)
                },
                onCancel: {
                    // Who has the complete response may leave before the stream says that there is no more.
                    guard self.end(exchange) else { return }
                    self.tell(.abandoned, of: request, exchange)
                })
        }
    }

    /// Whether the exchange had not come to its end before.
    @discardableResult
    private func end(_ exchange: Int) -> Bool { progress.withLock { $0.running.remove(exchange) != nil } }

    private func note(_ event: TransferEvent, of exchange: Int) {
        switch event {
        case .head(let head): progress.withLock { $0.status = head.status }
        case .chunk(let bytes): progress.withLock { $0.bytesReceived += Int64(bytes.count) }
        case .finished: end(exchange)
        default: break
        }
    }

    /// The subscriber has got what it wanted; leaving is no cancelling from now on.
    fileprivate func noteResult() { progress.withLock { $0.hasResult = true } }

    fileprivate func end(_ completion: Completion<NetworkError>?) {
        let now = scheduler.now
        // Others may go on waiting for the exchange.
        let (last, running) = progress.withLock { progress in
            defer { progress.running = [] }
            return (progress.request, progress.running.sorted())
        }
        for exchange in running { tell(.abandoned, of: last, exchange) }
        let (request, exchange, summary) = progress.withLock { progress in
            progress.hasEnded = true
            let outcome: TrafficEvent.Summary.Outcome =
                switch completion {
                case .finished: .succeeded
                case .failed(let error): .failed(error)
                case nil: progress.hasResult ? .succeeded : .cancelled
                }
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
    /// Who is told of the request; `nil` if nobody listens.
    func trace(of request: Request) -> Trace? {
        // A failable initialiser would allocate first.
        trafficHub.isObserved ? Trace(request, in: self) : nil
    }
}

extension Observable where Failure == NetworkError {
    /// Tells the start and the end of the request that this stream is.
    ///
    /// - Parameter isWhole: whether one value is the whole result, so that who leaves after it has all.
    func traced(by trace: Trace?, isWhole: Bool = true) -> Observable {
        guard let trace else { return self }
        return handleEvents(
            onSubscribe: { trace.tell(.started) }, onNext: { _ in if isWhole { trace.noteResult() } },
            onEnd: { trace.end($0) }, onCancel: { trace.end(nil) })
    }
}

extension Observable<TransferEvent, NetworkError> {
    /// Tells of the redirects that are followed.
    func redirectsTraced(by trace: Trace?) -> Observable {
        guard let trace else { return self }
        return handleEvents(onNext: { event in
            if case .redirected = event { trace.tell(.transfer(event)) }
        })
    }
}
