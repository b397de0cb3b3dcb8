public import HTTPTypes
public import RxHTTP
public import RxLite
import RxTesting
import Synchronization

/// Answers requests from a cassette.
///
/// ```swift
/// let cassette = try Cassette(contentsOf: "Tests/ShopTests/Cassettes/login.har")
/// let clock = VirtualScheduler(startingAt: cassette.startedAt)
/// let replay = ReplayTransport(cassette, on: clock)
/// let client = Client(configuration: configuration, transport: replay)
/// // The calls to test.
/// try clock.run()
/// try replay.verify()
/// ```
///
/// It keeps the contract of `Transport`, as `ScriptedTransport` does. Each subscription selects an exchange by the
/// ``ReplayRules``; its events come at the recorded times, measured on the scheduler. An exchange that was cancelled
/// while it was recorded stays open after its last event. The time limits of the request apply, as on a network.
///
/// A WebSocket compares the client's messages and the code of its close frame with the recorded ones, in their order:
/// text exactly or as JSON by its values, binary messages by their bytes. The first that differs breaks the connection
/// with `NetworkError.Code.unrecorded`.
///
/// Secrets are compared only with those of the cassette: a request with any password matches the exchange that was
/// recorded with another one, but a placeholder that the cassette contains, such as the token of its login, matches
/// only itself.
///
/// A request that matches no exchange fails with `NetworkError.Code.unrecorded`, and the message names the differences
/// to the nearest exchange. Thread-safe.
public final class ReplayTransport: Transport {
    /// The scheduler of the exchanges.
    public let scheduler: any Scheduler
    /// The files that requests send and that responses are downloaded to.
    public let files: any FileSystem

    private let cassette: Cassette
    private let rules: ReplayRules
    private let comparesFiles: Bool
    private let library: Mutex<ReplayLibrary>
    private let mismatches = Mutex<[ReplayMismatch]>([])
    private let conversations = Mutex<[ReplayConversation]>([])

    /// Creates a transport that answers from a cassette.
    ///
    /// - Parameters:
    ///   - cassette: the recorded exchanges.
    ///   - scheduler: the scheduler of the exchanges: a `VirtualScheduler`, or any other serial one.
    ///   - rules: the rules of selection and timing. Default ``ReplayRules/standard``.
    ///   - files: the files that requests send and that responses are downloaded to. Default `nil`: contents that are
    ///     files are not compared, and in virtual time downloads go to a `MemoryFileSystem` without files.
    public init(
        _ cassette: Cassette, on scheduler: any Scheduler, rules: ReplayRules = .standard,
        files: (any FileSystem)? = nil
    ) {
        self.cassette = cassette
        self.scheduler = scheduler
        self.rules = rules
        self.files =
            files ?? (scheduler as? VirtualScheduler).map { MemoryFileSystem(on: $0) } ?? AbsentFileSystem()
        comparesFiles = files != nil
        library = Mutex(ReplayLibrary(cassette.exchanges, rules))
    }

    /// The requests so far that matched no exchange, each with the differences to the nearest one, and the messages of
    /// WebSockets that differ from the recorded ones.
    public var unmatched: [ReplayMismatch] { mismatches.withLock { $0 } }

    /// The numbers, from 1, of the exchanges that no request has used.
    public var unused: [Int] { library.withLock { $0.unused.map { $0 + 1 } } }

    /// Checks that all requests and messages matched.
    ///
    /// - Throws: the first ``ReplayMismatch`` of a request or a message; or, by strict rules, one that lists the messages
    ///   that the client has not sent, or the unused exchanges.
    public func verify() throws(ReplayMismatch) {
        if let mismatch = unmatched.first { throw mismatch }
        guard rules.isStrict else { return }
        for conversation in conversations.withLock({ $0 }) {
            if let mismatch = conversation.unsent(from: name) { throw mismatch }
        }
        let unused = unused
        guard !unused.isEmpty else { return }
        let lines = unused.map { number in
            let exchange = cassette.exchanges[number - 1]
            return "\(number): \(exchange.method.rawValue) \(exchange.url)"
        }
        throw ReplayMismatch(
            "\(unused.count) of \(cassette.exchanges.count) exchanges of \(name) stayed unused",
            differences: lines)
    }

    /// The recorded exchange of a request.
    public func send(_ request: Request) -> Observable<TransferEvent, NetworkError> {
        Observable(scheduler: scheduler) { observer in
            guard observer.scope.isOpen else { return }
            guard self.rules.comparesBodies, self.comparesFiles, case .streamed(let body) = request.body
            else { return self.play(request, body: request.body.known, to: observer) }
            let scope = observer.scope.child()
            let content = Mutex<[UInt8]>([])
            body.content(from: self.files).flatMap(.concat) { $0.chunks }.subscribe(
                Observer(
                    scope: scope, next: { bytes in content.withLock { $0 += bytes } },
                    end: { completion in
                        scope.close()
                        switch completion {
                        case .finished: self.play(request, body: content.withLock { $0 }, to: observer)
                        case .failed(let error): observer.fail(error)
                        }
                    }))
        }
    }

    /// Answers from an exchange that matches, and marks it as used.
    ///
    /// - Returns: false if there is none; then nothing has happened.
    func answer(_ request: Request, to observer: Observer<TransferEvent, NetworkError>) -> Bool {
        let body = request.body.known
        guard let index = take(Cassette.Exchange(request, body: body), request, body: body) else {
            return false
        }
        play(index, request, to: observer)
        return true
    }

    /// The cassette's placeholders (stand-ins for secrets) that occur in a request, sorted.
    func placeholders(in request: Request) -> [String] {
        let sent = Cassette.Exchange(request, body: request.body.known)
        return library.withLock { $0.placeholders(in: sent, request.redaction) }.sorted()
    }

    private var name: String { cassette.file ?? "the cassette" }

    private func take(_ sent: Cassette.Exchange, _ request: Request, body: [UInt8]?) -> Int? {
        library.withLock { $0.take(sent, request.redaction, ignoringBody: body == nil) }
    }

    private func play(_ request: Request, body: [UInt8]?, to observer: Observer<TransferEvent, NetworkError>)
    {
        let sent = Cassette.Exchange(request, body: body)
        guard let index = take(sent, request, body: body) else {
            let mismatch = mismatch(request, sent)
            mismatches.withLock { $0.append(mismatch) }
            let error = NetworkError(.unrecorded, "\(mismatch)", request: request)
            return Playback([.fail(error)], of: request, to: observer, on: scheduler) { _ in }.start()
        }
        play(index, request, to: observer)
    }

    private func play(
        _ index: Int, _ request: Request, to observer: Observer<TransferEvent, NetworkError>
    ) {
        let exchange = cassette.exchanges[index]
        let script = ReplayScript(exchange, rules.timeScale)
        guard exchange.isWebSocket, exchange.head?.status == .switchingProtocols else {
            return Playback(script.steps, of: request, to: observer, on: scheduler) { _ in }.start()
        }
        let conversation = ReplayConversation(exchange, number: index + 1, of: request, rules)
        if rules.isStrict { conversations.withLock { $0.append(conversation) } }
        WebSocketPlayback(script.webSocket(for: request), of: request, to: observer, on: scheduler) {
            report in
            guard let mismatch = conversation.take(report, from: self.name) else { return nil }
            self.mismatches.withLock { $0.append(mismatch) }
            return NetworkError(.unrecorded, "\(mismatch)", request: request)
        }
        .start()
    }

    private func mismatch(_ request: Request, _ sent: Cassette.Exchange) -> ReplayMismatch {
        let asked = "\(request.method.rawValue) \(request.shownURL)"
        let heading = "\(name) has no exchange for \(asked)"
        guard let nearest = library.withLock({ $0.nearest(to: sent, request.redaction) }) else {
            return ReplayMismatch(heading, request: asked, differences: ["it has no exchanges at all"])
        }
        var (secrets, known): (Set<String>, Set<String>) = ([], [])
        let recorded = cassette.exchanges[nearest.index]
        var lines = ReplayDifference.lines(
            sent: sent.masked(rules, request.redaction, secrets: &secrets),
            recorded: recorded.masked(rules, request.redaction, secrets: &known), rules)
        let others = secrets.filter { Pseudonyms.isPlaceholder($0) }.subtracting(known).sorted()
        if lines.isEmpty {
            lines = [
                nearest.isUsed
                    ? "it is the same, but was used before"
                    : "the placeholder of a secret: it has no \(others.joined(separator: ", "))"
            ]
        }
        let title = rules.keepsOrder && !nearest.isUsed ? "the next is" : "nearest is"
        let used = nearest.isUsed ? ", used before" : ""
        let label = "\(title) \(nearest.index + 1) of \(cassette.exchanges.count)\(used): "
        return ReplayMismatch(
            heading, request: asked, nearest: nearest.index + 1,
            differences: [label + "\(recorded.method.rawValue) \(recorded.url)"] + lines.map { "  \($0)" })
    }
}

extension Cassette.Exchange {
    /// A request to be compared.
    fileprivate init(_ request: Request, body: [UInt8]?) {
        self.init(
            method: request.method, url: request.urlText, headerFields: request.headerFields, body: body ?? []
        )
    }
}

extension Body {
    /// The bytes, if they are known before the body is sent.
    fileprivate var known: [UInt8]? {
        switch self {
        case .empty: []
        case .bytes(let bytes): bytes
        case .streamed: nil
        }
    }
}

extension NetworkError.Code {
    /// A ``ReplayTransport`` has no exchange for the request.
    public static let unrecorded = NetworkError.Code(rawValue: "unrecorded")
}

/// The rules by which a ``ReplayTransport`` selects exchanges and times their events.
public struct ReplayRules: Sendable {
    /// Whether scheme, host and port of the URLs are compared. Default true.
    public var comparesOrigins = true
    /// Whether the contents are compared: JSON with its members in any order, forms with their pairs in any order,
    /// multipart with any boundary, other content byte by byte. It applies to the client's messages of WebSockets as well,
    /// whose number is always compared. Default true.
    public var comparesBodies = true
    /// The header fields that are compared. Default none.
    public var comparedFields: Set<HTTPField.Name> = []
    /// Whether requests come in the recorded order: each must match the next exchange. Default false: they come in any
    /// order, and equal requests get their responses in the recorded order.
    public var keepsOrder = false
    /// The factor by which the times of the events are multiplied. With 0, all events of an exchange follow each other at
    /// once. A factor that is infinite or no number counts as 1, a negative one as 0. Default 1: the recorded times.
    public var timeScale = 1.0
    /// Whether each exchange answers once, and all of them must be used, to the client's last message. If it is false, the
    /// last one of several that match repeats, and exchanges may stay unused or end early. Default true.
    public var isStrict = true

    /// Creates the default rules.
    public init() {}

    /// The default rules: method, URL and body, in any order, as recorded, strict.
    public static let standard = ReplayRules()
}

/// The reason why a cassette does not fit the requests or messages, with the nearest exchange.
///
/// ```
/// login.har has no exchange for POST https://shop.test/login
///   nearest is 2 of 5, used before: POST https://shop.test/login
///     body.user: recorded "ann", sent "bob"
/// ```
public struct ReplayMismatch: Error, Sendable, Equatable, CustomStringConvertible {
    /// The request, as method and URL without secrets; `nil` if exchanges stayed unused. For a message, its handshake.
    public let request: String?
    /// The number of the nearest exchange, from 1, if there is one.
    public let nearest: Int?
    /// The differences to the nearest exchange, one a line; or the exchanges that stayed unused.
    public let differences: [String]
    private let heading: String

    init(_ heading: String, request: String? = nil, nearest: Int? = nil, differences: [String]) {
        self.heading = heading
        self.request = request
        self.nearest = nearest
        self.differences = differences
    }

    /// The request, the nearest exchange, and the differences.
    public var description: String {
        ([heading] + differences.map { "  \($0)" }).joined(separator: "\n")
    }
}
