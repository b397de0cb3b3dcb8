#if Outbox
public import FoundationEssentials
public import RxHTTP
public import RxLite

/// The place where an ``Outbox`` keeps its entries: ``SQLiteOutboxStore``, ``MemoryOutboxStore``, or the store of a
/// fleet, which several machines share (`SharedOutboxStore` of RxFleet).
///
/// Every function returns a cold stream of one value. Operations take effect in the order of their subscriptions, even if
/// a subscriber leaves, and each as a whole or not at all; a value means that the effect is durable. The values of ``add(_:_:)``
/// and ``load()`` arrive in that order, too. Several outboxes, in one process or in several, may use the same contents.
public protocol OutboxStore: Sendable {
    /// How often an outbox looks for changes by others; `nil` if there are no others. An outbox also tries as often to
    /// become the sender.
    var pollInterval: Duration? { get }

    /// Adds an entry, gives it the next sequence number, and removes the entries that it replaces: those with its topic
    /// that are not being sent. If there is an entry with its key, nothing changes; nor if one with its key was delivered
    /// whose ``UsedKey`` does not end before this one was created. An outbox that finds a number left out looks for the
    /// entries of others.
    func add(_ entry: OutboxEntry, _ content: Data) -> Observable<OutboxAddition, NetworkError>
    /// All entries in the order of their sequence numbers.
    func load() -> Observable<OutboxSnapshot, NetworkError>
    /// The stored endpoint of an entry; `nil` if there is no such entry.
    func content(of id: OutboxID) -> Observable<Data?, NetworkError>
    /// Changes an entry.
    ///
    /// - Parameters:
    ///   - change: the change, with its condition.
    ///   - lease: the sender's lease; `nil` for a change that anyone may make.
    func change(
        _ change: OutboxChange, under lease: OutboxLease?
    ) -> Observable<OutboxChange.Outcome, NetworkError>
    /// The receipt of a delivered entry; `nil` if there is none.
    func receipt(of id: OutboxID) -> Observable<OutboxReceipt?, NetworkError>
    /// Removes receipts that nobody needs any more.
    ///
    /// - Parameters:
    ///   - date: those of deliveries before this time are removed.
    ///   - limit: the number of those that stay at most, the latest ones.
    func removeReceipts(before date: Date, keeping limit: Int) -> Observable<Void, NetworkError>
    /// A number that differs after each change by anyone. Receipts are no change.
    func revision() -> Observable<Int64, NetworkError>

    /// Takes or renews the lease of the sender; `nil` if another one has it. A lease that somebody takes has a greater
    /// number than all before, and those before have no effect from then on.
    ///
    /// - Parameters:
    ///   - held: the lease to renew; `nil` to take one.
    ///   - now: the current date, for stores whose leases end by time.
    func lease(renewing held: OutboxLease?, at now: Date) -> Observable<OutboxLease?, NetworkError>
    /// Gives a lease back.
    func release(_ lease: OutboxLease) -> Observable<Void, NetworkError>
    /// Frees what the store holds open. A later operation opens it again.
    func close() -> Observable<Void, NetworkError>
}

/// All entries of a store at one time.
public struct OutboxSnapshot: Sendable {
    /// The entries in the order of their sequence numbers.
    public let entries: [OutboxEntry]
    /// The revision of the store.
    public let revision: Int64

    /// Creates a snapshot.
    public init(entries: [OutboxEntry], revision: Int64) {
        self.entries = entries
        self.revision = revision
    }
}

/// The result of adding an entry.
public enum OutboxAddition: Sendable {
    /// The entry is stored, with this sequence number, instead of the entries with these ids.
    case added(sequence: Int64, replaced: [OutboxID])
    /// This entry has the same key already, and this content.
    case exists(OutboxEntry, Data)
    /// The entry with this id had the same key, and has been delivered within the life of the key.
    case delivered(OutboxID)
}

/// A change of an entry.
public enum OutboxChange: Sendable {
    /// Stores that an attempt begins, and reads the endpoint. Only if the entry is not dead.
    case begin(OutboxID, OutboxDelivery)
    /// Stores the outcome of an attempt, or the death of an entry. Only if the entry is not dead.
    case settle(OutboxID, OutboxDelivery)
    /// Removes an entry that has been delivered, or that nobody needs any more, and keeps its receipt and its
    /// ``OutboxReceipt/usedKey``, if there are any. Only if the entry is not dead.
    case complete(OutboxID, OutboxReceipt?)
    /// Stores that a dead entry is to be sent again, with changed terms, and another endpoint if there is one. Only if
    /// the entry is dead, and has died at ``OutboxDelivery/since`` of the changed one, so that nobody overwrites what
    /// another one has decided meanwhile.
    case revive(OutboxEntry, Data?)
    /// Removes a dead entry.
    case discard(OutboxID)

    /// The result of a change.
    public enum Outcome: Sendable, Hashable {
        /// The change is stored. The stored endpoint, for ``OutboxChange/begin(_:_:)``.
        case applied(Data?)
        /// There is no such entry, or its state forbids the change.
        case gone
        /// Another sender has the lease.
        case leaseLost
    }

    /// The id of the entry.
    public var id: OutboxID {
        switch self {
        case .begin(let id, _), .settle(let id, _), .complete(let id, _), .discard(let id): id
        case .revive(let entry, _): entry.id
        }
    }

    /// Whether an entry is in the state that the change requires.
    ///
    /// - Parameter entry: the entry with the change's id, as it is stored.
    public func isAllowed(for entry: OutboxEntry) -> Bool {
        // `OutboxTable.change(_:under:)` has the same conditions as statements; change both.
        let isDead = entry.delivery.deadReason != nil
        return switch self {
        case .begin, .settle, .complete: !isDead
        case .discard: isDead
        case .revive(let changed, _): isDead && changed.delivery.since == entry.delivery.since
        }
    }
}

/// The right to send the entries of a store.
public struct OutboxLease: Sendable, Hashable {
    /// The fencing number, which grows from lease to lease.
    public let number: Int64
    /// When it ends unless it is renewed; `nil` for a lease that ends with the process and is never renewed, such as that of
    /// a file's lock (SQLite), or of a store in memory that is not shared.
    public let expires: Date?

    /// Creates a lease.
    public init(number: Int64, expires: Date? = nil) {
        self.number = number
        self.expires = expires
    }
}
#endif
