import FoundationEssentials
import HTTPTypes
import RxHTTP
import RxLite
import RxTesting
import RxWebSocket
import Synchronization

@testable import RxClient

/// The events of one scenario in the order in which they happen, one line each: the virtual time in milliseconds, the
/// observer, the event.
///
/// Requests are numbered in the order in which they first appear.
final class CallTranscript: Sendable {
    private struct Contents {
        var lines: [String] = []
        var requests: [RequestID] = []
        var keys: [String] = []
    }

    let clock: VirtualScheduler
    private let contents = Mutex(Contents())

    init(on clock: VirtualScheduler) { self.clock = clock }

    var lines: [String] { contents.withLock { $0.lines } }

    func note(_ observer: String, _ event: String) {
        let line = "\(clock.now.milliseconds) \(observer) \(event)".replacing("\n", with: "\\n")
        contents.withLock { $0.lines.append(line) }
    }

    /// The number of a request, such as `#1`.
    func number(_ id: RequestID?) -> String {
        guard let id else { return "#-" }
        return contents.withLock { "#\(Self.index(of: id, in: &$0.requests))" }
    }

    private func key(_ key: String) -> String {
        contents.withLock { "key\(Self.index(of: key, in: &$0.keys))" }
    }

    private static func index<Value: Equatable>(of value: Value, in values: inout [Value]) -> Int {
        if let index = values.firstIndex(of: value) { return index + 1 }
        values.append(value)
        return values.count
    }

    // MARK: - Texts

    private static let fields = [
        "Authorization", "Cookie", "If-None-Match", "Range", "If-Range", "Last-Event-ID", "X-Secret",
        "X-Sign",
        "X-Place",
    ].compactMap { HTTPField.Name($0) }

    func text(_ request: Request) -> String {
        var parts = [number(request.id), request.method.rawValue, request.url.absoluteString]
        parts += Self.fields.compactMap { name in request.headerFields[name].map { "\(name): \($0)" } }
        if let key = HTTPField.Name("Idempotency-Key").flatMap({ request.headerFields[$0] }) {
            parts.append("Idempotency-Key: \(self.key(key))")
        }
        switch request.body {
        case .empty: break
        case .bytes(let bytes): parts.append("body \(Self.text(bytes))")
        case .streamed: parts.append("body streamed")
        }
        return parts.joined(separator: " ") + " attempt \(request.attempt)"
    }

    private static func text(_ bytes: [UInt8]) -> String {
        bytes.count > 200 ? "\(bytes.count) bytes" : String(decoding: bytes, as: UTF8.self).debugDescription
    }

    func text(_ error: NetworkError) -> String {
        let parts = [
            error.code.rawValue, error.message.debugDescription, error.status.map { "\($0.code)" },
            error.envelopeCode.map { "envelope \($0)" }, number(error.requestID), "attempt \(error.attempt)",
            error.url?.absoluteString, error.isUnsent ? "unsent" : nil,
            error.cause.map { "because of \($0.code.rawValue)" },
        ]
        return parts.compactMap(\.self).joined(separator: " ")
    }

    private func text(_ completion: Completion<some Error>) -> String {
        switch completion {
        case .finished: "end"
        case .failed(let error): "failed " + ((error as? NetworkError).map { text($0) } ?? "\(error)")
        }
    }

    func text(_ event: TransferEvent) -> String {
        switch event {
        case .uploaded(let bytes, let total): "uploaded \(bytes) of \(total.map { "\($0)" } ?? "-")"
        case .redirected(let request, let head): "redirected by \(head.status.code) to \(text(request))"
        case .interim(let head): "interim \(head.status.code)"
        case .head(let head): "head \(head.status.code)"
        case .chunk(let bytes): "chunk \(Self.text(bytes))"
        case .trailers(let fields): "trailers \(fields.map { "\($0.name): \($0.value)" })"
        case .finished: "finished"
        }
    }

    func text(_ outcome: RequestOutcome) -> String {
        switch outcome {
        case .succeeded: "succeeded"
        case .failed(let error): "failed \(error.code.rawValue)"
        case .cancelled: "cancelled"
        }
    }

    /// A value of a subscriber, or the output of a call.
    func text(_ value: Any) -> String {
        switch value {
        case let event as TransferEvent: text(event)
        case let response as Response:
            "response \(response.status.code) \(Self.text(response.body))"
                + (response.cacheUse.map { " \($0.rawValue)" } ?? "")
                + " of \(number(response.request.id)) attempt \(response.request.attempt)"
                + " \(response.request.url.absoluteString)"
        case let goods as [Goods]: "goods \(goods.map { "\($0.id)" }.joined(separator: ","))"
        case let typed as TypedResponse<[Goods]>: "\(text(typed.output)) by \(text(typed.response))"
        case ProgressEvent<[Goods]>.uploaded(let it): "uploaded \(text(it))"
        case ProgressEvent<[Goods]>.downloaded(let it): "downloaded \(text(it))"
        case ProgressEvent<[Goods]>.finished(let it): text(it)
        case DownloadEvent.progress(let progress): "progress \(text(progress))"
        case DownloadEvent.finished(let file):
            "file \(file.path) of \(file.size), \(file.resumedFrom) earlier, \(file.head.status.code)"
        case let progress as TransferProgress:
            "\(progress.bytes) of \(progress.expected.map { "\($0)" } ?? "-")"
        case let event as ServerSentEvent:
            "\(event.type) \(event.data.debugDescription) id \(event.lastEventID)"
        case EventSourceUpdate.open(let head): "open \(head.status.code)"
        case EventSourceUpdate.message(let event): "message \(text(event))"
        case EventSourceUpdate.comment(let text): "comment \(text.debugDescription)"
        case EventSourceUpdate.reconnecting(let delay, let error): reconnecting(delay, error)
        case WebSocketEvent.opened(let head, _, _): "opened \(head.status.code)"
        case WebSocketEvent.closing(let code, let reason): "closing \(code.rawValue) \(reason)"
        case WebSocketEvent.reconnecting(let delay, let error): reconnecting(delay, error)
        case let state as PagingState<Goods>: state.text
        case is Void: "done"
        default: "\(value)"
        }
    }

    private func reconnecting(_ delay: Duration, _ error: NetworkError?) -> String {
        "reconnecting after \(delay.milliseconds)" + (error.map { " because \(text($0))" } ?? "")
    }

    private func text(_ event: CallEvent) -> String {
        switch event {
        case .transfer(let event): text(event)
        case .response(let response): text(response)
        case .output(let output):
            // The outputs of event sources and WebSockets are internal types of the client.
            output is [Goods] || output is DownloadEvent || output is TransferEvent
                ? "output \(text(output))" : "output"
        }
    }

    private func text(_ kind: TrafficEvent.Kind) -> String {
        switch kind {
        case .started: "started"
        case .sent: "sent"
        case .transfer(let event): text(event)
        case .broken(let error): "broken \(text(error))"
        case .abandoned: "abandoned"
        case .relogin(let error): "relogin because \(error.code.rawValue)"
        case .retry(let delay, let error): "retry after \(delay.milliseconds) because \(error.code.rawValue)"
        case .cached(let use, let head): "cached \(use.rawValue) \(head.map { "\($0.status.code)" } ?? "-")"
        case .retryRefused(let error): "retry refused because \(error.code.rawValue)"
        case .queued: "queued"
        case .admitted(let wait): "admitted after \(wait.milliseconds)"
        case .hedged(let delay): "hedged after \(delay.milliseconds)"
        case .failover(let role, let error): "failover to \(role) because \(error.code.rawValue)"
        case .webSocket(let message, let isSent):
            "message \(isSent ? "sent" : "received") \(message.count) bytes"
        case .ended(let summary): "ended \(text(summary))"
        }
    }

    private func text(_ summary: TrafficEvent.Summary) -> String {
        let outcome =
            switch summary.outcome {
            case .succeeded: "succeeded"
            case .failed(let error): "failed \(error.code.rawValue)"
            case .cancelled: "cancelled"
            }
        return
            "\(outcome) status \(summary.status.map { "\($0.code)" } ?? "-") received \(summary.bytesReceived)"
            + " attempts \(summary.attempts) after \(summary.duration.milliseconds)"
    }

    // MARK: - Observers

    /// Notes the values and the end of a subscriber.
    func observe<Value, Failure>(_ name: String, _ stream: Observable<Value, Failure>) -> Subscription {
        stream.observe(
            onNext: { self.note(name, "got \(self.text($0))") }, onEnd: { self.note(name, self.text($0)) })
    }

    /// Notes all events of a client's calls.
    func observe(_ traffic: Observable<TrafficEvent, Never>) {
        traffic.subscribe { event in
            let exchange = event.exchange == 0 ? "" : "/\(event.exchange)"
            self.note("traffic", "\(self.number(event.request.id))\(exchange) \(self.text(event.kind))")
        }
    }

    var accessory: Accessory {
        Accessory(
            willStart: { self.note("accessory", "willStart \(self.number($0.id)) \($0.url.absoluteString)") },
            willStop: { self.note("accessory", "willStop \(self.number($0.id)) \(self.text($1))") },
            didStop: { self.note("accessory", "didStop \(self.number($0.id)) \(self.text($1))") })
    }

    /// Interceptors that note the requests on their way down, and the events on their way up.
    var interceptors: Interceptors {
        func noting(_ place: String) -> [any Interceptor] {
            [
                Intercepting { request, call, next in
                    self.note(place, "down \(self.text(request)), \(call.kind), begun \(call.attempt)")
                    return next(request).handleEvents(
                        onNext: { self.note(place, "up \(self.text($0))") },
                        onEnd: { self.note(place, "up \(self.text($0))") },
                        onCancel: { self.note(place, "cancel") })
                }
            ]
        }
        return Interceptors(call: noting("call"), attempt: noting("attempt"), exchange: noting("exchange"))
    }
}

/// Notes the requests that reach a transport, and the exchanges that are cancelled.
struct TranscriptTransport: Transport {
    let base: ScriptedTransport
    let transcript: CallTranscript

    var scheduler: any Scheduler { base.scheduler }
    var files: any FileSystem { base.files }

    func send(_ request: Request) -> Observable<TransferEvent, NetworkError> {
        .deferred(on: scheduler) {
            transcript.note("server", "sent \(transcript.text(request))")
            // A response that has arrived is not cut off, whether or not the client waits for the end of the stream.
            let progress = TransferState()
            return base.send(request).handleEvents(
                onNext: { if case .finished = $0 { progress.isComplete.store(true, ordering: .relaxed) } },
                onCancel: {
                    guard !progress.isComplete.load(ordering: .relaxed) else { return }
                    let number = transcript.number(request.id)
                    transcript.note("server", "cancelled \(number) attempt \(request.attempt)")
                })
        }
    }
}

private final class TransferState: Sendable {
    let isComplete = Atomic(false)
}

extension Duration {
    fileprivate var milliseconds: Int { Int((self / .milliseconds(1)).rounded()) }
}
