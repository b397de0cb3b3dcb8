#if Fleet
public import RxHTTP
public import RxLite

/// The store that the processes of a fleet share: versioned entries, leases, budgets and messages.
///
/// All streams are cold, send one value and finish unless said otherwise, and fail if the store cannot be reached.
/// Thread-safe.
public protocol SharedStore: AnyObject, Sendable {
    /// An entry; `nil` if there is none.
    func read(_ key: String) -> Observable<SharedEntry?, NetworkError>

    /// Replaces an entry if it has the expected version, and no later lease of `fence`'s name has written it.
    ///
    /// - Parameters:
    ///   - key: the entry.
    ///   - bytes: the new content; `nil` removes the entry.
    ///   - expected: the version that the entry must have.
    ///   - lease: the lease under which it is written; a swap is refused if a later lease has been granted. Default `nil`.
    ///   - lifetime: after this time the store may remove the entry. Default `nil`: never.
    func swap(
        _ key: String, to bytes: [UInt8]?, expecting expected: ExpectedVersion, under lease: SharedLease?,
        for lifetime: Duration?
    ) -> Observable<SwapResult, NetworkError>

    /// The exclusive right to a name. Sends one value once it is granted, and does not finish: it is returned when the
    /// subscription ends, and extended until then. It ends by itself `time` after the process has stopped. Waits without
    /// polling while another has it.
    func lease(_ name: String, for time: Duration) -> Observable<SharedLease, NetworkError>

    /// Takes from a budget that fills steadily (the generic cell rate algorithm).
    func take(_ count: Int, from key: String, _ budget: SharedBudget) -> Observable<BudgetReply, NetworkError>

    /// Sends a message to all processes that have subscribed to the channel, this one included.
    func publish(_ message: [UInt8], to channel: String) -> Observable<Void, NetworkError>

    /// The messages of a channel. Sends ``SharedMessage/connected`` once they can arrive, again after each loss of the
    /// connection, and ``SharedMessage/disconnected`` when they cannot. Never finishes.
    func messages(of channel: String) -> Observable<SharedMessage, Never>
}

/// An entry of a store.
public struct SharedEntry: Sendable, Hashable {
    /// The content.
    public var bytes: [UInt8]
    /// Changes with each write, and is never used twice for one key while the store keeps its data.
    public var version: UInt64

    /// Creates an entry.
    public init(bytes: [UInt8], version: UInt64) {
        self.bytes = bytes
        self.version = version
    }
}

/// The version that an entry must have to be replaced.
public enum ExpectedVersion: Sendable, Hashable {
    /// Whatever there is.
    case any
    /// There must be no entry.
    case absent
    /// This version.
    case exactly(UInt64)
}

/// The outcome of a swap.
public enum SwapResult: Sendable, Hashable {
    /// The version of the new entry; 0 for a removed one.
    case swapped(version: UInt64)
    /// The entry has another version.
    case conflict
    /// A later lease has been granted.
    case fenced
}

/// A granted lease.
public struct SharedLease: Sendable, Hashable {
    /// The name of the leased resource.
    public var name: String
    /// Grows with each grant of the name.
    public var fence: UInt64

    /// Creates a lease.
    public init(name: String, fence: UInt64) {
        self.name = name
        self.fence = fence
    }
}

/// A budget that fills steadily.
public struct SharedBudget: Sendable, Hashable {
    /// The number of permits added per second.
    public var perSecond: Double
    /// The capacity; the budget starts full.
    public var burst: Int

    /// Creates a budget.
    public init(perSecond: Double, burst: Int) {
        self.perSecond = perSecond
        self.burst = burst
    }
}

/// The reply of a budget.
public struct BudgetReply: Sendable, Hashable {
    /// Whether nothing was taken.
    public var isLimited: Bool
    /// The capacity.
    public var limit: Int
    /// The number of permits left.
    public var remaining: Int
    /// The time until as many can be taken, if it was limited.
    public var retryAfter: Duration
    /// The time until the budget is full.
    public var resetAfter: Duration

    /// Creates a reply.
    public init(
        isLimited: Bool, limit: Int, remaining: Int, retryAfter: Duration, resetAfter: Duration
    ) {
        self.isLimited = isLimited
        self.limit = limit
        self.remaining = remaining
        self.retryAfter = retryAfter
        self.resetAfter = resetAfter
    }
}

/// An event of a channel.
public enum SharedMessage: Sendable, Hashable {
    /// Messages arrive from now on; some may have been missed.
    case connected
    /// A message.
    case message([UInt8])
    /// Messages do not arrive.
    case disconnected
}
#endif
