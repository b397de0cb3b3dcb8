import Synchronization

/// The counts of the demo API since its start.
public struct Statistics: Codable, Sendable {
    /// Successful logins.
    public internal(set) var logins = 0
    /// Requests by method and path, such as `GET /goods`.
    public internal(set) var requests: [String: Int] = [:]
    /// Orders that were executed.
    public internal(set) var ordersPlaced = 0
    /// Orders whose idempotency key was known, so that they were not executed again.
    public internal(set) var ordersRepeated = 0
    /// Downloads that were sent completely.
    public internal(set) var downloadsFinished = 0
    /// Downloads that the client aborted.
    public internal(set) var downloadsAborted = 0
    /// Bytes of downloads that were handed to the network.
    public internal(set) var downloadedBytes = 0
}

/// The statistics, counted from any thread.
final class Counters: Sendable {
    private let state = Mutex(Statistics())

    var statistics: Statistics { state.withLock { $0 } }

    func count(_ change: (inout Statistics) -> Void) { state.withLock { change(&$0) } }
}
