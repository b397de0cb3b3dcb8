#if Inspector
import RxClient
import RxHTTP

/// The last requests of all clients, for the page's waterfall: a bounded number of rows of bounded size.
struct RequestRows {
    /// The most rows.
    static let limit = 200

    private var rows: [RequestID: RequestRow] = [:]
    /// In the order in which the requests began.
    private var order: [RequestID] = []
    private var changed: Set<RequestID> = []

    /// All rows.
    var all: [RequestRow] { order.compactMap { rows[$0] } }

    /// The rows that have changed since the last call.
    mutating func takeChanged() -> [RequestRow] {
        guard !changed.isEmpty else { return [] }
        defer { changed.removeAll(keepingCapacity: true) }
        return order.filter { changed.contains($0) }.compactMap { rows[$0] }
    }

    mutating func take(_ event: TrafficEvent, at now: Duration) {
        let id = event.request.id
        if case .started = event.kind {
            if order.count >= Self.limit { forgetOldest() }
            if rows.updateValue(RequestRow(event, at: now), forKey: id) == nil { order.append(id) }
        } else {
            // A request that began before the inspector, or is forgotten, has no row.
            guard let index = rows.index(forKey: id) else { return }
            rows.values[index].take(event, at: now)
        }
        changed.insert(id)
    }

    /// Drops a tenth of the rows, the oldest ones that have ended first.
    private mutating func forgetOldest() {
        let count = Self.limit / 10
        var dropped = Set(order.filter { rows[$0]?.isEnded ?? true }.prefix(count))
        if dropped.isEmpty { dropped = Set(order.prefix(count)) }
        order.removeAll { dropped.contains($0) }
        for id in dropped { rows[id] = nil }
        changed.subtract(dropped)
    }
}
#endif
