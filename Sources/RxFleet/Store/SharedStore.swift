#if Fleet
public import RxHTTP
public import RxLite

/// The store that the processes of a fleet share: versioned entries, leases, budgets and messages.
///
/// All streams are cold, send one value and finish unless said otherwise, and fail if the store cannot be reached. A
/// command that fails may have been executed: its reply may be what was lost.
///
/// Keys, channels and names of leases have 1 to 1024 bytes of UTF-8, messages at most 256 KiB, and the content of an entry
/// at most 8 MiB; longer ones fail with `tooLarge` and change nothing. Thread-safe.
public protocol SharedStore: AnyObject, Sendable {
    /// An entry; `nil` if there is none.
    func read(_ key: String) -> Observable<SharedEntry?, NetworkError>

    /// Replaces an entry if it has the expected version, and the lease's name has not been granted again.
    ///
    /// Of several swaps that expect the same version, one takes place.
    ///
    /// - Parameters:
    ///   - key: the entry.
    ///   - bytes: the new content; `nil` removes the entry.
    ///   - expected: the version that the entry must have.
    ///   - lease: the lease under which it is written; a swap is refused if a later lease has been granted, even if that
    ///     one has ended, or if the store has lost the lease. `nil` for an entry without a lease.
    ///   - lifetime: after this time the entry is gone. `nil`: never.
    func swap(
        _ key: String, to bytes: [UInt8]?, expecting expected: ExpectedVersion, under lease: SharedLease?,
        for lifetime: Duration?
    ) -> Observable<SwapResult, NetworkError>

    /// The exclusive right to a name. Sends one value once it is granted, and does not finish: it is returned when the
    /// subscription ends, and extended until then.
    ///
    /// Granted in the order of the requests, as far as their processes run, and without polling while another has it. It
    /// ends by itself `time` after the process has stopped; if that process runs again, the stream fails with
    /// `superseded`.
    func lease(_ name: String, for time: Duration) -> Observable<SharedLease, NetworkError>

    /// Takes from a budget that fills steadily (the generic cell rate algorithm, ITU-T I.371).
    ///
    /// In no period, whatever its beginning, are more permits taken than the burst and what is added in that period. Fails
    /// with `invalidBudget` if the budget cannot be kept, and if more is asked for than its burst,
    /// which no wait would allow.
    ///
    /// - Parameters:
    ///   - count: the number of permits, all or none of which are taken; 0 takes none and reports the state.
    ///   - key: the name of the budget.
    ///   - budget: the rate and the burst, which all processes must give alike.
    func take(_ count: Int, from key: String, _ budget: SharedBudget) -> Observable<BudgetReply, NetworkError>

    /// Sends a message to all processes that have subscribed to the channel, this one included.
    func publish(_ message: [UInt8], to channel: String) -> Observable<Void, NetworkError>

    /// The messages of a channel. Sends ``SharedMessage/connected`` once they can arrive, again after each loss of the
    /// connection or of messages, and ``SharedMessage/disconnected`` when they cannot. Never finishes.
    func messages(of channel: String) -> Observable<SharedMessage, Never>
}

/// An entry of a store.
public struct SharedEntry: Sendable, Hashable {
    /// The content.
    public var bytes: [UInt8]
    /// Grows with each write of the key, also over the removal of the entry, while the store keeps its data.
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
    /// A later lease has been granted, or the store has lost the lease.
    case fenced
}

/// A granted lease.
public struct SharedLease: Sendable, Hashable {
    /// The name of the leased resource.
    public var name: String
    /// The fencing number: grows with each grant of the name, also after the lease has ended.
    public var fence: UInt64

    /// Creates a lease.
    public init(name: String, fence: UInt64) {
        self.name = name
        self.fence = fence
    }
}

/// A budget that fills steadily.
public struct SharedBudget: Sendable, Hashable {
    /// The number of permits added per second, from 0.000,001 to 1,000,000,000.
    public var perSecond: Double
    /// The capacity, at least 1, and no more than is added in 30 years; the budget starts full.
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
