#if Outbox
public import FoundationEssentials
public import RxHTTP

/// The number of entries in each phase.
public struct OutboxCounts: Sendable, Hashable {
    /// Entries that have not been sent yet.
    public internal(set) var queued = 0
    /// Entries that are being sent.
    public internal(set) var sending = 0
    /// Entries that wait for their next attempt.
    public internal(set) var waiting = 0
    /// Dead letters.
    public internal(set) var dead = 0

    /// The number of entries that are still to be delivered.
    public var pending: Int { queued + sending + waiting }

    subscript(phase: OutboxDelivery.Phase) -> Int {
        get {
            switch phase {
            case .queued: queued
            case .sending: sending
            case .waiting: waiting
            case .dead: dead
            }
        }
        set {
            switch phase {
            case .queued: queued = newValue
            case .sending: sending = newValue
            case .waiting: waiting = newValue
            case .dead: dead = newValue
            }
        }
    }
}

/// The state of an ``Outbox``.
public struct OutboxState: Sendable, Hashable {
    /// The part of an outbox among those that share a store.
    public enum Role: Sendable, Hashable {
        /// The outbox opens the store.
        case opening
        /// The outbox sends the entries.
        case sender
        /// Another outbox sends the entries; this one takes over when the other ends.
        case standby
        /// The outbox is drained or draining, and refuses new entries.
        case closed
    }

    /// The part of this outbox among those that share the store.
    public internal(set) var role = Role.opening
    /// The number of entries in each phase, as far as this outbox knows.
    public internal(set) var counts = OutboxCounts()
    /// Whether there is a network, according to the client's `Reachability`. Without one nothing is sent.
    public internal(set) var isOnline = true
    /// The failure of the store, as long as it lasts. Nothing is sent meanwhile, since nothing could be stored.
    public internal(set) var storeFailure: OutboxFailure?
}

extension OutboxState: RedactedDescription {
    /// The role, the numbers of entries, and what keeps the outbox from sending.
    public var description: String {
        "\(role): \(counts.queued) queued, \(counts.sending) sending, \(counts.waiting) waiting, \(counts.dead) dead"
            + (isOnline ? "" : "; no network") + (storeFailure.map { "; the store has failed: \($0)" } ?? "")
    }
}

/// An event of an ``Outbox``, for metrics and logs.
public enum OutboxEvent: Sendable {
    /// An entry of this outbox is durable.
    case enqueued(OutboxEntry)
    /// An attempt begins.
    case sending(OutboxEntry)
    /// An attempt has failed, and another one follows.
    case waiting(OutboxEntry)
    /// An entry has been delivered, after so many attempts and so much time since it was written.
    case delivered(OutboxEntry, after: Duration)
    /// An entry has become a dead letter.
    case died(OutboxEntry)
    /// An entry has been replaced by a later one with its topic.
    case replaced(OutboxID)
    /// The role has changed.
    case role(OutboxState.Role)
    /// The store has failed. The outbox tries again.
    case storeFailed(NetworkError)
}

extension OutboxEvent: RedactedDescription {
    /// One line without content of requests and text of servers.
    public var description: String {
        switch self {
        case .enqueued(let entry): "enqueued \(entry.name) \(entry.id)"
        case .sending(let entry), .waiting(let entry), .died(let entry): "\(entry)"
        case .delivered(let entry, let time):
            "\(entry.name) \(entry.id) delivered after \(entry.delivery.attempts) attempts and \(time)"
        case .replaced(let id): "\(id) replaced"
        case .role(let role): "role: \(role)"
        case .storeFailed(let error): "the store failed: \(error)"
        }
    }
}

/// The options of an ``Outbox``.
public struct OutboxConfiguration: Sendable {
    /// When an entry is sent again after a failure.
    public var schedule = OutboxSchedule()
    /// The most entries that are sent at the same time. Default 16.
    public var concurrency = 16
    /// The time after which an entry that has not been delivered becomes a dead letter; `nil` for never. Default 7 days.
    public var lifetime: Duration? = .seconds(7 * 24 * 3600)
    /// How long the results of delivered entries are kept; `nil` if they are not. Default: the latest 1,000 for 24 hours.
    public var receipts: OutboxReceiptRules? = OutboxReceiptRules()
    /// Encrypts the stored endpoints and receipts. Default `nil`: they are stored as JSON.
    public var seal: OutboxSeal?
    /// The current date. Default `nil`: the date of the client's scheduler.
    public var currentDate: (@Sendable () -> Date)?

    /// Creates the default options.
    public init() {}
}

/// A date that never goes back, whatever happens to the system's clock: an entry must not look younger than it is.
struct SteadyDate {
    private var floor = Date.distantPast
    private var floorTime = Duration.zero

    /// - Parameters:
    ///   - system: the date of the system.
    ///   - time: the monotonic time.
    mutating func date(system: Date, at time: Duration) -> Date {
        let steady = floor == .distantPast ? floor : floor + (time - floorTime)
        floor = max(system, steady)
        floorTime = time
        return floor
    }

    /// Not before a date that was stored before.
    mutating func raise(to date: Date, at time: Duration) {
        let steady = floor == .distantPast ? floor : floor + (time - floorTime)
        floor = max(steady, date)
        floorTime = time
    }
}

extension OutboxEntry {
    /// The latest date at which something has happened to the entry.
    var latestDate: Date { max(created, delivery.since ?? created) }
}
#endif
