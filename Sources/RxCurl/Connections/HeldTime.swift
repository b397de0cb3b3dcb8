/// For how long the requests to an origin were held in all, in nanoseconds.
struct HeldTime {
    private var start: UInt64?
    private var past: UInt64 = 0

    /// Whether they are held now.
    var isRunning: Bool { start != nil }

    mutating func begin(at now: UInt64) { if start == nil { start = now } }

    mutating func end(at now: UInt64) {
        if let start = start.take() { past += now - min(now, start) }
    }

    /// The time up to `now`; how much of it a request has seen is the difference to when it came.
    func total(at now: UInt64) -> UInt64 { past + (start.map { now - min(now, $0) } ?? 0) }
}
