internal import RxHTTP
internal import RxLite

/// The place of a transfer in the ``ConnectionQueue``, which alone changes it.
struct QueuePlace {
    /// A transfer that waits for a free connection.
    struct Waiting {
        let ticket: WaitingList<Transfer>.Ticket
        /// The time when the wait began, in nanoseconds of the loop.
        let start: UInt64
        /// How long the requests to its origin had been held by then (``HeldTime``).
        let heldBefore: UInt64
        /// A timer that ends the transfer when a limit has passed.
        var limit: (any Cancellable)?
    }

    /// The origin whose place the transfer has or waits for.
    var origin: FairQueue<Transfer>.Origin?
    var waiting: Waiting?
    var negotiation: Negotiation?
    /// How long the transfer waited for the connection of another one, in nanoseconds; part of the time to
    /// connect.
    var heldTime: UInt64 = 0
}
