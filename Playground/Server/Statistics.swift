import Synchronization

/// What the demo API has counted since it started.
public struct Statistics: Codable, Sendable {
    /// Successful logins.
    public internal(set) var logins = 0
    /// Requests by method and path, such as `GET /goods`.
    public internal(set) var requests: [String: Int] = [:]
    /// Downloads that were sent to the end.
    public internal(set) var downloadsFinished = 0
    /// Downloads that the client broke off.
    public internal(set) var downloadsAborted = 0
    /// Bytes of downloads that the network has taken.
    public internal(set) var downloadedBytes = 0
}

/// The statistics, counted from any thread.
final class Counters: Sendable {
    private let state = Mutex(Statistics())

    var statistics: Statistics { state.withLock { $0 } }

    func count(_ change: (inout Statistics) -> Void) { state.withLock { change(&$0) } }
}
