#if Inspector
import FoundationEssentials
import HTTPTypes
import RxClient
import RxHTTP
import RxWebSocket

/// Turns the traffic of clients into messages of the Network domain, and keeps them for front ends that come later, up to
/// a limit: then the oldest requests are dropped.
///
/// A pure state machine: each step returns the messages to send.
struct NetworkLog {
    /// A call that has not ended.
    private struct Call {
        /// The time when it began to wait for its turn.
        var queuedAt: Duration?
        /// The rows of its exchanges.
        var rows: [Int: String] = [:]
        var latestRow: String?
        /// The response that leads to the next exchange.
        var redirect: ResponseHead?
        /// Whether it waits for the response to another request.
        var isJoined = false
    }

    typealias Messages = [[UInt8]]

    let settings: Inspector.Settings
    private var calls: [RequestID: Call] = [:]
    private var rows: [String: NetworkRow] = [:]
    /// The ids of all rows, the oldest first.
    private var order: [String] = []
    /// The bytes of all rows. Rows are changed by `update(_:_:)`, which keeps it right.
    private var byteCount = 0
    /// The rows with a response that the front ends have not been told of, and the number of batches since it came.
    private var fresh: [String: Int] = [:]
    private var outgoing: Messages = []

    /// The maximum number of bytes of a request's body in the event; longer ones are asked for.
    private static let postDataLimit = 64 << 10
    /// The maximum number of bytes of a message of a stream.
    private static let messageLimit = 1 << 20

    /// The number of batches that a response waits for its end: about a quarter of a second, with the pauses of
    /// ``TrafficRecorder``. The phases are known only then, and the panel takes one message of each response.
    private static let patience = 12

    init(_ settings: Inspector.Settings) { self.settings = settings }

    // MARK: - Asking

    /// Whether there are responses that further batches tell of, even if nothing happens.
    var isHolding: Bool { fresh.keys.contains { rows[$0]?.isRedirecting == false } }

    /// The messages of the newest kept rows, the oldest first.
    ///
    /// - Parameter limit: the maximum number of bytes.
    func replay(limit: Int) -> Messages {
        var left = limit
        var replays: [Messages] = []
        for id in order.reversed() {
            let replay = rows[id]?.replay ?? []
            left -= replay.reduce(0) { $0 + $1.count }
            guard left >= 0 else { break }
            replays.append(replay)
        }
        return Array(replays.reversed().joined())
    }

    /// The kept rows by the last exchange of each.
    var byExchange: [TrafficEvent.ExchangeID: NetworkRow] {
        Dictionary(rows.values.map { ($0.exchange, $0) }) { first, _ in first }
    }

    /// The last row of the request with this number; `nil` if it has been dropped.
    func latestRow(ofRequest number: UInt64) -> NetworkRow? {
        order.last { rows[$0]?.exchange.request.rawValue == number }.flatMap { rows[$0] }
    }

    /// The row with the id of the protocol.
    func row(_ id: String) -> NetworkRow? { rows[id] }

    // MARK: - Following

    /// Takes the events of a batch.
    mutating func take(_ items: [TrafficInbox.Item]) -> Messages {
        for item in items {
            switch item {
            case .event(let event): take(event)
            case .omission(let exchange, let count, let time):
                update(calls[exchange.request]?.rows[exchange.number]) { row in
                    row.omit(count, at: time)
                }
            }
        }
        // Responses that have ended have been told with their timings.
        for (id, age) in fresh {
            fresh[id] = age + 1
            update(id) { $0.isRedirecting || $0.isShort && age < Self.patience ? [] : $0.tellHead(nil) }
        }
        fresh = fresh.filter { rows[$0.key]?.hasUntoldHead == true }
        trim()
        defer { outgoing = [] }
        return outgoing
    }

    private mutating func take(_ event: TrafficEvent) {
        let id = event.request.id
        switch event.kind {
        case .started: calls[id] = Call()
        case .queued: calls[id]?.queuedAt = event.time
        case .sent: begin(event)
        case .transfer(.redirected(_, by: let head)):
            if calls[id]?.latestRow == nil { begin(event) }
            calls[id]?.redirect = head
        case .transfer(let transfer): take(transfer, event)
        case .broken(let error):
            endHop(event) { $0.tellFailure(error, at: event.time) }
        case .abandoned:
            endHop(event) { row in
                guard row.isRedirecting else { return row.tellAbandonment(at: event.time) }
                row.heldEnd = .abandoned(event.time)
                return []
            }
        case .cached(.joined, _): calls[id]?.isJoined = true
        case .cached(.fresh, let head?), .cached(.stale, let head?): takeCached(head, event)
        case .webSocket(let message, let isSent):
            update(rowID(of: event)) { row in
                row.count(message)
                let frame = NetworkMessage.webSocketFrame(
                    row, message, isSent: isSent, limit: Self.messageLimit, at: event.time)
                return [(frame, .stream)]
            }
        case .ended(let summary): end(summary, event)
        case .admitted, .relogin, .retry, .retryRefused, .hedged, .failover, .cached: break
        }
    }

    private func rowID(of event: TrafficEvent) -> String? { calls[event.request.id]?.rows[event.exchange] }

    // MARK: - Rows

    /// Begins an exchange: in the row of the one that redirects to it, or in its own.
    private mutating func begin(_ event: TrafficEvent) {
        var call = calls[event.request.id] ?? Call()
        defer { calls[event.request.id] = call }
        let issuedAt = call.queuedAt ?? event.time
        call.queuedAt = nil
        let shown = ShownExchange(event.request, settings)
        if let head = call.redirect.take(), let id = call.latestRow, rows[id] != nil {
            call.rows[event.exchange] = id
            fresh[id] = nil
            update(id) { row in
                if row.head == nil { row.receive(head, at: event.time, event.date) }
                let extra: NetworkRow.Told = (NetworkMessage.responseExtraInfo(row), .opening)
                let response = NetworkMessage.response(row, row.heldMetrics)
                row.redirect(to: shown, exchange: event.exchangeID, at: event.time)
                return [extra] + row.tellHop(event, issuedAt, response, Self.postDataLimit)
            }
            return
        }
        finishHeld(call.latestRow)
        let id = "\(event.request.id.rawValue).\(event.exchange)"
        call.rows[event.exchange] = id
        call.latestRow = id
        let row = NetworkRow(
            id: id, shown, exchange: event.exchangeID, ResourceType(event.request), event.initiator,
            sentAt: event.time)
        rows[id] = row
        order.append(id)
        byteCount += row.byteCount
        update(id) { row in
            guard !row.isWebSocket else {
                return [
                    (NetworkMessage.webSocketCreated(row), .opening),
                    (NetworkMessage.webSocketHandshake(row, date: event.date), .opening),
                ]
            }
            return row.tellHop(event, issuedAt, nil, Self.postDataLimit)
        }
    }

    private mutating func take(_ transfer: TransferEvent, _ event: TrafficEvent) {
        let (time, limit) = (event.time, settings.bodyLimit)
        switch transfer {
        case .head(let head):
            guard let id = rowID(of: event) else { return }
            fresh[id] = 0
            update(id) { row in
                row.receive(head, at: time, event.date)
                return []
            }
        case .chunk(let bytes):
            update(rowID(of: event)) { row in row.receive(bytes, limit: limit, at: time) }
        case .finished(let metrics):
            endHop(event) { row in
                guard row.isRedirecting else { return row.tellEnd(metrics, at: time) }
                row.heldEnd = .finished(metrics, time)
                return []
            }
        case .uploaded, .redirected, .interim, .trailers: break
        }
    }

    private mutating func endHop(_ event: TrafficEvent, _ change: (inout NetworkRow) -> [NetworkRow.Told]) {
        update(rowID(of: event), change)
    }

    /// Tells of the end of a response that was not followed after all.
    private mutating func finishHeld(_ id: String?) {
        update(id) { row in
            switch row.heldEnd.take() {
            case .finished(let metrics, let time): row.tellEnd(metrics, at: time)
            case .abandoned(let time): row.tellAbandonment(at: time)
            case nil: []
            }
        }
    }

    // MARK: - Calls

    /// A row for a stored response.
    private mutating func takeCached(_ head: ResponseHead, _ event: TrafficEvent) {
        let limit = settings.bodyLimit
        addRow(event, named: "cache") { row in
            row.receive(head, at: event.time, event.date)
            // Told below, from the cache.
            row.hasUntoldHead = false
            row.keep(body: event.cachedBody, limit: limit)
            return [
                (NetworkMessage.servedFromCache(row), .closing),
                (NetworkMessage.responseReceived(row, nil, isCached: true), .closing),
                (NetworkMessage.finished(row, encodedCount: 0, at: event.time), .closing),
            ]
        }
    }

    /// Adds a row that has its end at once.
    private mutating func addRow(
        _ event: TrafficEvent, named name: String, _ change: (inout NetworkRow) -> [NetworkRow.Told]
    ) {
        let id = "\(event.request.id.rawValue).\(name)"
        var row = NetworkRow(
            id: id, ShownExchange(event.request, settings), exchange: event.exchangeID,
            ResourceType(event.request),
            event.initiator, sentAt: event.time)
        guard rows[id] == nil else { return }
        // A connection that was never made is shown as a request.
        if row.isWebSocket { row.type = .fetch }
        rows[id] = row
        order.append(id)
        byteCount += row.byteCount
        let issuedAt = calls[event.request.id]?.queuedAt ?? event.time
        calls[event.request.id, default: Call()].latestRow = id
        update(id) { row in
            let request = row.tellRequest(event, issuedAt, nil, Self.postDataLimit)
            let rest = change(&row)
            row.hasEnded = true
            return [request] + rest
        }
    }

    private mutating func end(_ summary: TrafficEvent.Summary, _ event: TrafficEvent) {
        let call = calls[event.request.id]
        finishHeld(call?.latestRow)
        if call?.latestRow == nil {
            switch summary.outcome {
            case .failed(let error):
                addRow(event, named: "failed") { row in
                    [
                        (
                            NetworkMessage.failed(row, error.shown, at: event.time, isBlocked: true), .closing
                        )
                    ]
                }
            case .succeeded where call?.isJoined == true:
                takeCached(ResponseHead(status: summary.status ?? .ok), event)
            case .succeeded, .cancelled: break
            }
        }
        calls[event.request.id] = nil
    }

    // MARK: - Keeping

    private mutating func update(_ id: String?, _ change: (inout NetworkRow) -> [NetworkRow.Told]) {
        guard let id, let index = rows.index(forKey: id) else { return }
        byteCount -= rows.values[index].byteCount
        for (message, phase) in change(&rows.values[index]) {
            let text = message.bytes
            if let phase { rows.values[index].keep(text, phase) }
            outgoing.append(text)
        }
        byteCount += rows.values[index].byteCount
    }

    /// Drops the oldest rows, first of all those that have ended.
    private mutating func trim() {
        guard byteCount > settings.logMemoryLimit else { return }
        // Less than the limit, so that the next batches need no trimming.
        let goal = settings.logMemoryLimit / 10 * 9
        let ended = order.filter { rows[$0]?.hasEnded == true }
        let running = order.filter { rows[$0]?.hasEnded == false }
        var dropped: Set<String> = []
        for id in ended + running where byteCount > goal {
            byteCount -= rows.removeValue(forKey: id)?.byteCount ?? 0
            dropped.insert(id)
        }
        order.removeAll { dropped.contains($0) }
    }
}
#endif
