#if Inspector
import RxClient
import RxHTTP

/// The last requests of all clients, for the page's waterfall: a bounded number of rows and of bytes.
struct RequestRows {
    /// The most rows.
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
#endif
