/// The records of one period of a ``StreamLog``.
package struct StreamBatch: Sendable {
    /// The end of the period, on the log's clock.
    package let time: Duration
    /// The recorded events, in order.
    package let records: [StreamRecord]
    /// The number of values so far of each open track, and of each that has ended in the period, recorded or not.
    package let counts: [Int: Int]
    /// The number of events that were not recorded because too many waited.
    package let lost: Int
    /// The number of subscriptions that have no track because there were too many.
    package let untracked: Int
    /// The tracks that are open after the period, in the order in which they began, if these are asked for.
    package let tracks: [StreamTrack]
}
