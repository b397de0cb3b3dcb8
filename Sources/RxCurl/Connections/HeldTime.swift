/// The total time for which requests to an origin were held, in nanoseconds.
struct HeldTime {
    private var start: UInt64?
    private var past: UInt64 = 0

    /// Whether requests are held now.
    var isRunning: Bool { start != nil }

    mutating func begin(at now: UInt64) { if start == nil { start = now } }

    mutating func end(at now: UInt64) {
        if let start = start.take() { past += now - min(now, start) }
    }

    /// The total time up to `now`. The held time of one request is the difference from the total at its
    /// arrival.
    func total(at now: UInt64) -> UInt64 { past + (start.map { now - min(now, $0) } ?? 0) }
}
