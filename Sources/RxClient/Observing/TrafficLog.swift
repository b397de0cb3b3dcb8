#if Logging
import HTTPTypes
public import Logging
import RxHTTP
public import RxLite
import RxWebSocket
import Synchronization

/// The content and levels of a log of a client's traffic.
///
/// By default a request writes one line when it begins and one for each exchange (`debug`), one for each
/// redirect, login and retry with its reason (`debug`, `notice`, `notice`), and one at its end, with status,
/// bytes and duration (`info`; `warning` for a failure; `debug` for a cancellation). The metadata of each
/// line has the request's id, as `request-id`. All output passes through the request's ``Redaction``;
/// messages of the server, whose content is unknown, are shown only together with bodies.
public struct TrafficLog: Sendable {
    /// The level for the start of a request. Default `debug`.
    public var startLevel = Logger.Level.debug
    /// The level for the start of an exchange, and for a followed redirect. Default `debug`.
    public var exchangeLevel = Logger.Level.debug
    /// The level for a login that a request needs, and for a retry. Default `notice`.
    public var retryLevel = Logger.Level.notice
    /// The level for a successful request. Default `info`.
    public var successLevel = Logger.Level.info
    /// The level for a failed request. Default `warning`.
    public var failureLevel = Logger.Level.warning
    /// The level for a cancelled request. Default `debug`.
    public var cancelLevel = Logger.Level.debug

    /// Whether header fields are shown, in the metadata of the exchange. Default false.
    public var showsHeaders = false
    /// The maximum number of bytes shown of each body. Default 0: bodies are not shown.
    public var bodyLimit = 0
    /// The level for header fields and bodies. Default `trace`.
    public var contentLevel = Logger.Level.trace

    /// Creates a log with the default content and levels.
    public init() {}
}

// MARK: - The operator

extension Observable where Element == TrafficEvent, Failure == Never {
    /// Writes the events to a log, until the subscription is cancelled or the client is released.
    ///
    /// ```swift
    /// client.traffic.log(to: Logger(label: "api"))
    /// ```
    @discardableResult
    public func log(to logger: Logger, as style: TrafficLog = TrafficLog()) -> Subscription {
        let writer = TrafficLogger(logger, style)
        return subscribe(onNext: { writer.take($0) })
    }
}

/// Formats the events of requests as log lines.
private final class TrafficLogger: Sendable {
    private let logger: Logger
    private let style: TrafficLog
    /// The beginnings of the bodies to show, for exchanges that have not ended.
    private let bodies = Mutex<[TrafficEvent.ExchangeID: ResponseBody]>([:])

    init(_ logger: Logger, _ style: TrafficLog) {
        self.logger = logger
        self.style = style
    }

    func take(_ event: TrafficEvent) {
        let request = event.request
        switch event.kind {
        case .started: log(style.startLevel, "\(request.line) begins", event)
        case .sent:
            log(style.exchangeLevel, "\(request.line) was sent", event)
            logContent(.request, of: event, request.headerFields, request.body.known)
        case .transfer(let transfer): take(transfer, event)
        case .broken(let error):
            log(style.exchangeLevel, "the exchange failed: \(show(error))", event)
            endBody(of: event)
        case .abandoned: endBody(of: event)
        case .relogin(let error): log(style.retryLevel, "logging in again after: \(show(error))", event)
        case .retry(let delay, let error):
            log(style.retryLevel, "retrying in \(delay) after: \(show(error))", event)
        case .cached(.joined, _):
            log(style.exchangeLevel, "\(request.line) waits for another request's response", event)
        case .cached(let use, _):
            log(style.exchangeLevel, "\(request.line) is served from the cache: \(use.rawValue)", event)
        case .retryRefused(let error):
            log(style.retryLevel, "not retrying, as the host's retry budget is spent: \(show(error))", event)
        case .failover(let role, let error):
            log(style.retryLevel, "switching to the \(role) server after: \(show(error))", event)
        case .queued: log(style.exchangeLevel, "\(request.line) waits for its turn", event)
        case .admitted(let wait): log(style.exchangeLevel, "\(request.line) waited \(wait)", event)
        case .hedged(let delay): log(style.retryLevel, "starting a second attempt after \(delay)", event)
        case .webSocket(let message, let isSent):
            let verb = isSent ? "sent" : "received"
            log(style.exchangeLevel, "\(request.line) \(verb) a message of \(message.count) bytes", event)
        case .ended(let summary): log(summary, event)
        }
    }

    private func take(_ transfer: TransferEvent, _ event: TrafficEvent) {
        switch transfer {
        case .redirected(let next, by: _):
            log(style.exchangeLevel, "redirected to \(next.line)", event)
        case .head(let head):
            guard showsContent else { return }
            bodies.withLock { $0[event.exchangeID] = ResponseBody(head: head) }
        case .chunk(let bytes) where style.bodyLimit > 0:
            bodies.withLock { $0[event.exchangeID]?.append(bytes, limit: style.bodyLimit) }
        case .finished: endBody(of: event)
        default: break
        }
    }

    private func endBody(of event: TrafficEvent) {
        guard showsContent, let body = bodies.withLock({ $0.removeValue(forKey: event.exchangeID) }) else {
            return
        }
        logContent(.response, of: event, body.head.headerFields, body.start, count: body.count)
    }

    private func log(_ summary: TrafficEvent.Summary, _ event: TrafficEvent) {
        let took = "\(summary.bytesReceived) bytes in \(summary.duration)"
        // `Observability.md` names the keys, here and below.
        var metadata: Logger.Metadata = [
            "bytes": "\(summary.bytesReceived)", "duration-ms": "\(summary.duration / .milliseconds(1))",
            "attempts": "\(summary.attempts)",
        ]
        if let status = summary.status { metadata["status"] = "\(status.code)" }
        let line = event.request.line
        switch summary.outcome {
        case .succeeded:
            let status = summary.status.map { "\($0.code), " } ?? ""
            log(style.successLevel, "\(line) succeeded: \(status)\(took)", event, metadata)
        case .failed(let error):
            metadata["error"] = "\(error.code.rawValue)"
            log(style.failureLevel, "\(line) failed after \(took): \(show(error))", event, metadata)
        case .cancelled: log(style.cancelLevel, "\(line) was cancelled after \(took)", event, metadata)
        }
    }

    private enum Side: String {
        case request, response
    }

    private var showsContent: Bool {
        (style.showsHeaders || style.bodyLimit > 0) && logger.logLevel <= style.contentLevel
    }

    private func logContent(
        _ side: Side, of event: TrafficEvent, _ fields: HTTPFields, _ body: [UInt8], count: Int? = nil
    ) {
        guard showsContent else { return }
        let redaction = event.request.redaction
        var metadata: Logger.Metadata = [:]
        if style.showsHeaders {
            metadata["headers"] = .array(redaction.shown(fields).map { "\($0.name): \($0.value)" })
        }
        let count = count ?? body.count
        if style.bodyLimit > 0, count > 0 {
            let (start, type) = (Array(body.prefix(style.bodyLimit)), fields[.contentType])
            let text: String
            if MediaType(type).isText || MediaType(type).isMultipart {
                let shown = side == .request ? event.request.shown(start) : redaction.shown(start, type: type)
                text = String(decoding: shown, as: UTF8.self)
            } else {
                text = "binary"
            }
            metadata["body"] = "\(text)\(count > start.count ? " … of \(count) bytes" : "")"
        }
        log(style.contentLevel, "\(side.rawValue) \(event.request.line)", event, metadata)
    }

    private func log(
        _ level: Logger.Level, _ text: @autoclosure () -> String, _ event: TrafficEvent,
        _ metadata: @autoclosure () -> Logger.Metadata = [:]
    ) {
        logger.log(
            level: level, "\(text())",
            metadata: metadata().merging([
                "request-id": "\(event.request.id)", "attempt": "\(event.request.attempt)",
            ]) { own, _ in own }, source: "RxClient")
    }

    private func show(_ error: NetworkError) -> String { style.bodyLimit > 0 ? "\(error)" : error.shown }
}

/// The beginning of a response's body, up to the limit.
private struct ResponseBody {
    let head: ResponseHead
    var start: [UInt8] = []
    var count = 0

    init(head: ResponseHead) { self.head = head }

    mutating func append(_ bytes: [UInt8], limit: Int) {
        count += bytes.count
        start += bytes.prefix(max(0, limit - start.count))
    }
}

extension Request {
    fileprivate var line: String { "\(method.rawValue) \(shownURL)" }
}
#else
public import RxLite

extension Observable where Element == TrafficEvent, Failure == Never {
    /// Writes the events to a log of swift-log; needs the package trait `Logging`.
    @available(*, unavailable, message: "enable the trait Logging of the package RxNetworking")
    @discardableResult
    public func log(to logger: some Sendable) -> Subscription { subscribe() }
}
#endif
