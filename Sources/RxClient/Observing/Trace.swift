import HTTPTypes
import RxHTTP
import RxLite
import Synchronization

/// Reports the events of one request to the subscribers of a client's traffic. Requests that began without a
/// subscriber have no trace.
final class Trace: Sendable {
    private struct Progress {
        var request: Request
        var exchange = 0
        /// The exchanges that have not ended.
        var running: Set<Int> = []
        var status: HTTPResponse.Status?
        var bytesReceived: Int64 = 0
        var start: Duration
        var hasResult = false
        /// Whether reporting has ended. Exchanges that continue for other waiting requests belong to those.
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

    /// Reports an event.
    func tell(_ kind: TrafficEvent.Kind) {
        let (request, exchange) = progress.withLock { ($0.request, $0.exchange) }
        tell(kind, of: request, exchange)
    }

    private func tell(_ kind: TrafficEvent.Kind, of request: Request, _ exchange: Int) {
        guard progress.withLock({ !$0.hasEnded }) else { return }
        send(kind, of: request, exchange)
    }

    /// Reports the use of the cache for the response.
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

    /// The exchange of `request`, with its events reported.
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
                    // A subscriber that has the complete response may cancel before the stream completes.
                    guard self.end(exchange) else { return }
                    self.tell(.abandoned, of: request, exchange)
                })
        }
    }

    /// Records the end of an exchange. Returns whether it had not ended before.
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

    /// Records that the subscriber has received the result; leaving is not a cancellation from now on.
    fileprivate func noteResult() { progress.withLock { $0.hasResult = true } }

    fileprivate func end(_ completion: Completion<NetworkError>?) {
        let now = scheduler.now
        // Other requests may continue to wait for the exchange.
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
    /// The trace of a request; `nil` if there is no subscriber.
    func trace(of request: Request) -> Trace? {
        // A failable initializer would allocate first.
        trafficHub.isObserved ? Trace(request, in: self) : nil
    }
}

extension Observable where Failure == NetworkError {
    /// Reports the start and the end of the request of this stream.
    ///
    /// - Parameter isWhole: whether one value is the whole result, so that a subscriber that leaves after it
    ///   has received everything.
    func traced(by trace: Trace?, isWhole: Bool = true) -> Observable {
        guard let trace else { return self }
        return handleEvents(
            onSubscribe: { trace.tell(.started) }, onNext: { _ in if isWhole { trace.noteResult() } },
            onEnd: { trace.end($0) }, onCancel: { trace.end(nil) })
    }
}

extension Observable<TransferEvent, NetworkError> {
    /// Reports followed redirects.
    func redirectsTraced(by trace: Trace?) -> Observable {
        guard let trace else { return self }
        return handleEvents(onNext: { event in
            if case .redirected = event { trace.tell(.transfer(event)) }
        })
    }
}
