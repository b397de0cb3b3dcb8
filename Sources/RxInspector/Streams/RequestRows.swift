#if Inspector
import FoundationEssentials
import HTTPTypes
import RxClient
import RxHAR
import RxHTTP
import RxLite

/// The last requests of all clients, for the page's waterfall: a bounded number of rows and of bytes.
struct RequestRows {
    /// The most rows. The page keeps as many (`REQUESTS` in `model.js`).
    static let limit = 200

    private var rows: [RequestID: RequestRow] = [:]
    /// In the order in which the requests began.
    private var order: [RequestID] = []
    private var changed: Set<RequestID> = []
    private var byteCount = 0
    private let settings: Inspector.Settings

    init(_ settings: Inspector.Settings) { self.settings = settings }

    /// All rows.
    var all: [RequestRow] { order.compactMap { rows[$0] } }

    /// The rows that have changed since the last call.
    mutating func takeChanged() -> [RequestRow] {
        guard !changed.isEmpty else { return [] }
        defer { changed.removeAll(keepingCapacity: true) }
        return order.filter { changed.contains($0) }.compactMap { rows[$0] }
    }

    /// The row of the request with this number; `nil` if it has been dropped.
    func row(_ number: UInt64) -> RequestRow? { order.last { $0.rawValue == number }.flatMap { rows[$0] } }

    /// - Parameter client: the name of the client.
    mutating func take(_ event: TrafficEvent, of client: String, at now: Duration) {
        let id = event.request.id
        if case .started = event.kind {
            let row = RequestRow(
                event, of: client, at: now, messageByteLimit: settings.bodyLimit)
            byteCount += row.byteCount
            if let former = rows.updateValue(row, forKey: id) {
                byteCount -= former.byteCount
            } else {
                order.append(id)
            }
        } else {
            // A request that began before the inspector, or is forgotten, has no row.
            guard let index = rows.index(forKey: id) else { return }
            byteCount -= rows.values[index].byteCount
            rows.values[index].take(event, at: now)
            byteCount += rows.values[index].byteCount
        }
        changed.insert(id)
        let byteLimit = settings.rowMemoryLimit
        // Less than the limit, so that the next requests need no trimming.
        if order.count > Self.limit || byteCount > byteLimit {
            forgetOldest(count: Self.limit / 10 * 9, byteCount: byteLimit / 10 * 9)
        }
    }

    /// Drops rows until there are few enough, the oldest ones that have ended first.
    private mutating func forgetOldest(count: Int, byteCount limit: Int) {
        let ended = order.filter { rows[$0]?.isEnded == true }
        let running = order.filter { rows[$0]?.isEnded == false }
        var dropped: Set<RequestID> = []
        for id in ended + running where rows.count > count || byteCount > limit {
            byteCount -= rows.removeValue(forKey: id)?.byteCount ?? 0
            dropped.insert(id)
        }
        order.removeAll { dropped.contains($0) }
        changed.subtract(dropped)
    }
}

/// One request of the page's waterfall. Becomes text only when a page asks for it.
struct RequestRow {
    /// One hop of one attempt.
    private struct Exchange {
        let id: TrafficEvent.ExchangeID
        let start: Duration
        var end: Duration?
        var status: Int?
        var error: String?
        var metrics: TransferMetrics?
        /// The content, which becomes text only for an export.
        var draft: HARDraft
        /// The time of its last event on the clock of the transport.
        var draftEnd: Duration

        /// Whether an archive has it: at its end, and a WebSocket when it has been opened.
        var isArchived: Bool { end != nil || status == 101 }
    }

    /// The most exchanges and events of one row; further ones are not shown.
    private static let partLimit = 20

    private var request: Request
    /// The number of bytes of the body, whose bytes are not kept; `nil` if it is unknown.
    private var bodyCount: Int64?
    /// When it began, on the log's clock, as all times that the page reads; drafts have the clock of the
    /// transport.
    private let start: Duration
    private let cause: StreamCause?
    /// The name of its client.
    private let client: String
    private var exchanges: [Exchange] = []
    private var marks: [(time: Duration, text: String)] = []
    private var cached: String?
    private var summary: TrafficEvent.Summary?
    private var end: Duration?
    private let messageByteLimit: Int
    /// The bytes that the row takes, approximately.
    private(set) var byteCount: Int

    /// - Parameter messageByteLimit: the maximum number of bytes that are kept of a WebSocket's messages.
    init(_ event: TrafficEvent, of client: String, at now: Duration, messageByteLimit: Int) {
        request = event.request.keepingBody(upTo: 0)
        bodyCount = event.request.body.count
        self.client = client
        start = now
        cause = event.cause
        self.messageByteLimit = messageByteLimit
        byteCount = 1024 + request.byteCount
    }

    var id: RequestID { request.id }
    var isEnded: Bool { end != nil }

    mutating func take(_ event: TrafficEvent, at now: Duration) {
        switch event.kind {
        case .started: break
        case .sent:
            byteCount -= request.byteCount
            request = event.request.keepingBody(upTo: 0)
            bodyCount = event.request.body.count
            byteCount += request.byteCount
            guard exchanges.count < Self.partLimit else { return }
            let draft = HARDraft(
                event.request, number: event.exchange, date: event.date, start: event.time, bodyLimit: 0,
                messageByteLimit: messageByteLimit)
            byteCount += draft.byteCount
            exchanges.append(
                Exchange(id: event.exchangeID, start: now, draft: draft, draftEnd: event.time))
        case .transfer(.head(let head)):
            change(event) {
                $0.status = head.status.code
                $0.draft.take(.head(head), at: event.time)
            }
        case .transfer(.finished(let metrics)):
            change(event) {
                $0.end = now
                $0.metrics = metrics
            }
        case .transfer(.redirected(let next, by: _)): mark("redirected to \(next.shownURL)", now)
        case .webSocket(let message, let isSent):
            change(event) { $0.draft.take(message, isSent: isSent, date: event.date) }
        case .transfer: break
        case .broken(let error):
            change(event) {
                $0.end = now
                $0.error = error.shown
            }
        case .abandoned:
            change(event) {
                $0.end = now
                // `CassetteReader` of RxSimulation takes an entry with this text for a cancelled one.
                if $0.status == nil { $0.error = "abandoned" }
            }
        case .relogin(let error): mark("logging in again after \(error.shown)", now)
        case .retry(let delay, let error): mark("retry in \(delay) after \(error.shown)", now)
        case .retryRefused(let error): mark("no retry, the budget is spent: \(error.shown)", now)
        case .cached(let use, _):
            cached = use == .joined ? "joined" : "cache"
            mark(use == .joined ? "waits for an equal request" : "from the cache: \(use.rawValue)", now)
        case .queued: mark("queued", now)
        case .admitted(let wait): mark("admitted after \(wait)", now)
        case .hedged(let delay): mark("second attempt beside the first after \(delay)", now)
        case .failover(_, let error): mark("to the other server after \(error.shown)", now)
        case .ended(let summary):
            self.summary = summary
            end = now
        }
    }

    private mutating func change(_ event: TrafficEvent, _ change: (inout Exchange) -> Void) {
        guard let index = exchanges.lastIndex(where: { $0.id == event.exchangeID }) else { return }
        byteCount -= exchanges[index].draft.byteCount
        change(&exchanges[index])
        exchanges[index].draftEnd = event.time
        byteCount += exchanges[index].draft.byteCount
    }

    private mutating func mark(_ text: String, _ now: Duration) {
        guard marks.count < Self.partLimit else { return }
        marks.append((now, text))
        byteCount += text.utf8.count
    }
}

extension RequestRow {
    /// The row as the page reads it, without secrets. `requests.js`, `request-details.js` and `model.js` know the
    /// names.
    var document: JSON {
        let url = request.shownURL
        var members: [(String, JSON)] = [
            // `#` and the number, which `model.js` takes from it.
            ("id", .string("\(request.id)")), ("client", .string(client)),
            ("method", .string(request.method.rawValue)),
            ("url", .string(url)),
            ("path", .string(Self.path(of: url))), ("t", .milliseconds(start)), ("state", .string(state)),
            ("bytes", .integer(Int(summary?.bytesReceived ?? 0))),
            ("attempts", .integer(summary?.attempts ?? request.attempt)),
            ("track", .integer(cause?.track ?? 0)), ("marble", .integer(cause?.marble ?? 0)),
            ("end", end.map { .milliseconds($0) } ?? .null),
            ("exchanges", .array(exchanges.map(document))),
            ("marks", .array(marks.map { ["t": .milliseconds($0.time), "text": .string($0.text)] })),
        ]
        if let status = summary?.status?.code ?? exchanges.last?.status {
            members.append(("status", .integer(status)))
        }
        if case .failed(let error) = summary?.outcome {
            members.append(("error", .string(error.code.rawValue)))
            members.append(("failure", .string(error.shown)))
        }
        if let cached { members.append(("cached", .string(cached))) }
        if end == nil, let last = marks.last?.text { members.append(("mark", .string(last))) }
        if let address = exchanges.last?.metrics?.remoteAddress {
            members.append(("server", .string(address)))
        }
        return .object(members)
    }

    /// An exchange for an archive.
    struct Exchanged {
        let id: TrafficEvent.ExchangeID
        fileprivate var draft: HARDraft
        fileprivate let metrics: TransferMetrics?
        fileprivate let error: String?
        fileprivate let end: Duration

        /// The entry, with the bodies of the row if there is one.
        func entry(_ row: NetworkRow?, bodyLimit: Int) -> HAR.Entry {
            var draft = draft
            if let row {
                let count = row.head?.status == .switchingProtocols ? 0 : row.bodyCount
                draft.fill(row.shown.request, row.body, count: count, limit: bodyLimit)
            }
            return draft.entry(metrics: metrics, error: error, end: end)
        }
    }

    /// The request as a command for curl, without secrets, as it was last sent.
    ///
    /// - Parameter row: the row that has kept the body, if there is one.
    func command(withBodyOf row: NetworkRow?) -> String {
        var request = request
        if let kept = row?.shown.request.body, kept.count == bodyCount {
            request.body = kept
        } else if bodyCount != 0 {
            // Not a part of it as if it were the whole: the command expects the body on its standard input.
            request.body = .stream(.empty(), length: bodyCount)
        }
        return request.curlCommand()
    }

    /// The exchanges.
    ///
    /// - Parameter endedOnly: whether to leave out those that have not ended, other than open WebSockets.
    func exchanged(endedOnly: Bool) -> [Exchanged] {
        exchanges.filter { !endedOnly || $0.isArchived }.map { exchange in
            Exchanged(
                id: exchange.id, draft: exchange.draft, metrics: exchange.metrics, error: exchange.error,
                end: exchange.draftEnd)
        }
    }

    /// The words are those of `outcome` in `model.js`, and of `filter.js`.
    private var state: String {
        switch summary?.outcome {
        case .succeeded: "succeeded"
        case .failed: "failed"
        case .cancelled: "cancelled"
        case nil: "running"
        }
    }

    private func document(_ exchange: Exchange) -> JSON {
        var members: [(String, JSON)] = [
            ("t", .milliseconds(exchange.start)), ("end", exchange.end.map { .milliseconds($0) } ?? .null),
            ("failed", .bool(exchange.error != nil)), ("phases", exchange.metrics.map(Self.phases) ?? [:]),
        ]
        if let status = exchange.status { members.append(("status", .integer(status))) }
        if let error = exchange.error { members.append(("error", .string(error))) }
        return .object(members)
    }

    /// The phases, by their names in `PHASES` of `model.js`. They follow each other; a reused connection has
    /// no name, connection and TLS.
    private static func phases(_ metrics: TransferMetrics) -> JSON {
        let connected = max(metrics.resolved, metrics.connected)
        let secured = max(connected, metrics.secured)
        return [
            "queue": .milliseconds(metrics.queued), "dns": .milliseconds(metrics.resolved),
            "connect": .milliseconds(connected - metrics.resolved), "tls": .milliseconds(secured - connected),
            "wait": .milliseconds(max(.zero, metrics.firstByte - secured)),
            "receive": .milliseconds(max(.zero, metrics.total - max(metrics.firstByte, secured))),
        ]
    }

    /// The part after the server.
    private static func path(of url: String) -> String {
        guard let scheme = url.firstRange(of: "://") else { return url }
        let rest = url[scheme.upperBound...]
        return rest.firstIndex(of: "/").map { String(rest[$0...]) } ?? "/"
    }
}
#endif
