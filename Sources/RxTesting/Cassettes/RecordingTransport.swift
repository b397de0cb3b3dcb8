public import RxHTTP
public import RxLite
import Synchronization

/// Records the exchanges of another transport.
///
/// ```swift
/// let recording = RecordingTransport(CurlTransport.shared)
/// let client = Client(configuration: configuration, transport: recording)
/// // The calls to record.
/// try recording.cassette.write(to: "Tests/ShopTests/Cassettes/login.har")
/// ```
///
/// Secrets are replaced by placeholders such as `secret-1`, in header fields, URLs, forms, JSON and messages, by the
/// rules of each request (`Request.redaction`). The same secret has the same placeholder, so that a token that a login
/// returned is still the token that the next request sends. A secret that is long and irregular is replaced wherever
/// else it occurs. Binary content is recorded unchanged.
///
/// Bodies are kept in memory until the cassette is written. A WebSocket is recorded without compression. Thread-safe.
public final class RecordingTransport: Transport {
    private struct Contents {
        var names: Pseudonyms
        var exchanges: [Int: Cassette.Exchange] = [:]
        var running: [Int: ExchangeDraft] = [:]
        var begun = 0
    }

    private let transport: any Transport
    private let former: Cassette
    private let texts: [String: String]
    private let contents: Mutex<Contents>

    /// Creates a transport that records.
    ///
    /// - Parameters:
    ///   - transport: sends the requests.
    ///   - former: the exchanges before the new ones, whose placeholders are not used again. Default none.
    ///   - replacements: texts of at least eight bytes and their replacements, for example the address of a server on
    ///     a port that changes. They are replaced wherever they occur. Default none.
    public init(
        _ transport: any Transport, after former: Cassette = Cassette(),
        replacing replacements: [String: String] = [:]
    ) {
        self.transport = transport
        self.former = former
        texts = replacements
        let highest = former.exchanges.isEmpty ? 0 : Pseudonyms.highestNumber(in: former.encoded)
        contents = Mutex(Contents(names: Pseudonyms(after: highest)))
    }

    /// The scheduler of the recorded transport.
    public var scheduler: any Scheduler { transport.scheduler }

    /// The scheduler that the recorded transport chooses.
    public func scheduler(for origin: Origin?) -> any Scheduler { transport.scheduler(for: origin) }

    /// The store of the recorded transport.
    public var hsts: HSTSStore? { transport.hsts }

    /// The files of the recorded transport.
    public var files: any FileSystem { transport.files }

    /// The changes of the recorded transport's connections.
    public var connections: Observable<ConnectionEvent, Never> { transport.connections }

    /// The recording so far: the former exchanges, then the new ones in the order in which they began. An exchange that
    /// is running counts as cancelled.
    public var cassette: Cassette {
        let (exchanges, names) = contents.withLock { contents in
            var exchanges = contents.exchanges
            // In order, so that placeholders are numbered as the requests are.
            for (number, draft) in contents.running.sorted(by: { $0.key < $1.key }) {
                exchanges[number] = draft.exchange(&contents.names)
            }
            return (exchanges, contents.names)
        }
        let known = KnownTexts(names.scattered.merging(texts) { _, text in text })
        let new = exchanges.sorted { $0.key < $1.key }.map { _, exchange in
            var exchange = exchange
            exchange.replace(known)
            return exchange
        }
        return Cassette(former.exchanges + new)
    }

    /// Whether an exchange has begun.
    var hasRecorded: Bool { contents.withLock { $0.begun > 0 } }

    /// The exchange of the recorded transport, which is recorded with each subscription.
    public func send(_ request: Request) -> Observable<TransferEvent, NetworkError> {
        let exchange = transport.send(request)
        let clock = exchange.scheduler ?? transport.scheduler
        return Observable(scheduler: exchange.scheduler) { observer in
            guard observer.scope.isOpen else { return }
            let draft = self.begin(request, clock)
            let scope = observer.scope.child()
            scope.onClose { self.end(draft) }
            let isPlain = request.upgrade == nil && !request.body.isStreamed
            (isPlain ? exchange : self.transport.send(draft.observed)).subscribe(
                Observer(
                    scope: scope,
                    next: { event in
                        draft.note(transfer: event)
                        observer.next(event)
                    },
                    end: { completion in
                        if case .failed(let error) = completion { draft.note(failure: error) }
                        scope.close()
                        observer.end(completion)
                    }))
        }
    }

    private func begin(_ request: Request, _ clock: any Scheduler) -> ExchangeDraft {
        contents.withLock { contents in
            contents.begun += 1
            let draft = ExchangeDraft(request, number: contents.begun, clock: clock)
            contents.running[draft.number] = draft
            return draft
        }
    }

    private func end(_ draft: ExchangeDraft) {
        draft.close()
        contents.withLock { contents in
            contents.running[draft.number] = nil
            contents.exchanges[draft.number] = draft.exchange(&contents.names)
        }
    }
}

extension Body {
    fileprivate var isStreamed: Bool { if case .streamed = self { true } else { false } }
}
