internal import RxHTTP
internal import RxLite

/// Where a transfer stands in the ``ConnectionQueue``, which alone changes it.
struct QueuePlace {
    /// A transfer that waits for a free connection.
    struct Waiting {
        let ticket: WaitingList<Transfer>.Ticket
        /// Since when, in nanoseconds of the loop.
        let start: UInt64
        /// How long its origin's requests had been held by then (``HeldTime``).
        let heldBefore: UInt64
        /// Ends it when a limit has passed.
        var limit: (any Cancellable)?
    }

    /// Whose place it takes, or waits for.
    var origin: FairQueue<Transfer>.Origin?
    var waiting: Waiting?
    var negotiation: Negotiation?
    /// How long it waited for another one's connection, in nanoseconds; a part of the time to connect.
    var heldTime: UInt64 = 0
}
