import RxHTTP
import RxLite
import Synchronization
import TestServers

/// Subscribes and keeps the events.
final class Recording: Sendable {
    /// The events so far.
    struct Log: Sendable {
        /// The kinds of events in order, consecutive chunks as one.
        var kinds: [String] = []
        var head: ResponseHead?
        var body: [UInt8] = []
        var chunks = 0
        var events = 0
        var uploaded: [Int64] = []
        var metrics: TransferMetrics?
        /// Always one, if correct.
        var ends: [Completion<NetworkError>] = []
        /// The number of events after the end.
        var afterEnd = 0

        var error: NetworkError? {
            if case .failed(let error) = ends.first { error } else { nil }
        }

        mutating func take(_ event: TransferEvent, keepsBody: Bool) {
            if !ends.isEmpty { afterEnd += 1 }
            events += 1
            let kind: String
            switch event {
            case .uploaded(let bytes, _):
                kind = "uploaded"
                uploaded.append(bytes)
            case .redirected: kind = "redirected"
            case .interim: kind = "interim"
            case .trailers: kind = "trailers"
            case .head(let head):
                kind = "head"
                self.head = head
            case .chunk(let bytes):
                kind = "chunk"
                chunks += 1
                if keepsBody { body += bytes }
            case .finished(let metrics):
                kind = "finished"
                self.metrics = metrics
            }
            if kinds.last != kind || kind == "head" || kind == "finished" { kinds.append(kind) }
        }
    }

    private let board = Board(Log())
    private let subscription = Mutex<Subscription?>(nil)
    private let reacts = Atomic(true)

    /// Subscribes at once, on this thread.
    init(_ stream: Observable<TransferEvent, NetworkError>) {
        let subscription = subscribe(stream, keepsBody: true) { _, _ in }
        self.subscription.withLock { $0 = subscription }
    }

    /// Subscribes on the stream's own scheduler, so that `react`, which is called there with each event before it is
    /// kept, finds the subscription. A test that has seen an event knows that the reaction to it is done.
    init(
        _ stream: Observable<TransferEvent, NetworkError>, keepsBody: Bool = true,
        reacting react: @escaping @Sendable (TransferEvent, Subscription) -> Void
    ) {
        stream.scheduler?.schedule { [self] in
            let subscription = subscribe(stream, keepsBody: keepsBody, reacting: react)
            self.subscription.withLock { $0 = subscription }
        }
    }

    private func subscribe(
        _ stream: Observable<TransferEvent, NetworkError>, keepsBody: Bool,
        reacting react: @escaping @Sendable (TransferEvent, Subscription) -> Void
    ) -> Subscription {
        stream.subscribe(
            onNext: { [self] event in
                if reacts.load(ordering: .relaxed), let subscription = subscription.withLock({ $0 }) {
                    react(event, subscription)
                }
                board.update { $0.take(event, keepsBody: keepsBody) }
            },
            onEnd: { [self] completion in
                board.update { log in
                    if !log.ends.isEmpty { log.afterEnd += 1 }
                    log.ends.append(completion)
                }
            })
    }

    /// All events so far.
    var log: Log { board.contents }

    /// Waits until `look` returns a value.
    func until<Result: Sendable>(_ look: @escaping @Sendable (Log) -> Result?) async throws -> Result {
        try await board.until(look)
    }

    /// Waits for the end and returns all events.
    func ended() async throws -> Log { try await until { $0.ends.isEmpty ? nil : $0 } }

    var hasEnded: Bool { board.update { !$0.ends.isEmpty } }

    func stopReacting() { reacts.store(false, ordering: .relaxed) }
    func cancel() { subscription.withLock { $0 }?.cancel() }
    func pause() { subscription.withLock { $0 }?.pause() }
    func resume() { subscription.withLock { $0 }?.resume() }
}
