/// One subscription of a simulated process, with its events.
public struct SimulatedSubscription: Sendable {
    /// The end of a subscription.
    public enum End: Hashable, Sendable {
        /// The stream finished.
        case finished
        /// The stream failed, with this text.
        case failed(String)
        /// The subscriber cancelled.
        case cancelled
        /// The process was killed.
        case killed
    }

    /// Its name: the one given, and a number that counts such subscriptions from 1, as in `cart #1`.
    public let place: String
    /// The name without the number.
    public let name: String
    /// The virtual time of the subscription.
    public let startedAt: Duration
    /// The values, as text.
    public internal(set) var values: [String] = []
    /// The end, if it has ended.
    public internal(set) var end: End?
    /// Whether the end of the run cancelled it.
    public internal(set) var isCutOff = false
}
