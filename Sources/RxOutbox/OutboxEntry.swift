#if Outbox
public import FoundationEssentials
import HTTPTypes
public import RxHTTP

/// The id of an entry, which stays the same over restarts. Print or store ``rawValue`` to ask for the entry later.
public struct OutboxID: RawRepresentable, Sendable, Hashable, Comparable, Codable, CustomStringConvertible {
    /// The id as text.
    public let rawValue: String

    /// Creates an id from its text.
    public init(rawValue: String) { self.rawValue = rawValue }

    /// The text.
    public var description: String { rawValue }

    /// The order of the texts.
    public static func < (one: OutboxID, other: OutboxID) -> Bool { one.rawValue < other.rawValue }
}

extension UUID {
    /// A UUID that begins with the time (version 7, RFC 9562 §5.7), followed by 74 random bits: the ids of entries that are
    /// written one after another are neighbors in the indices of a store, so that a transaction changes few pages.
    static func ordered(at date: Date) -> UUID {
        let milliseconds = UInt64(min(max(date.timeIntervalSince1970 * 1000, 0), 0xFFFF_FFFF_FFFF))
        let random = (RandomSource.number(), RandomSource.number())
        return UUID(
            high: milliseconds << 16 | 0x7000 | random.0 & 0x0FFF, low: 1 << 63 | random.1 >> 2)
    }
}

/// An entry of an outbox as it is stored, without the endpoint itself. Its encoded form is for stores.
public struct OutboxEntry: Sendable, Hashable, Codable {
    /// The parts that change only when a dead letter is sent again or edited.
    struct Terms: Sendable, Hashable, Codable {
        // Stored by their positions (`CompactEntry.swift`), and by their names in the JSON of a shared store of RxFleet
        // and of older releases, where a new member must be optional.
        var name: String
        var version: Int
        var guarantee: DeliveryGuarantee
        var order: OutboxOrder?
        var topic: String?
        var account: String?
        var attachments: [OutboxAttachment] = []
        var created: Date
        var expires: Date?
        var isSealed = false
        /// Whether the caller has chosen the key, and may use it again; `nil` for false, as former versions of RxOutbox
        /// have stored it.
        var isKeyGiven: Bool?
    }

    /// The id.
    public let id: OutboxID
    var terms: Terms
    /// The position among all entries of the store, in the order in which they became durable. Set by the store.
    public var sequence: Int64
    /// The state of its delivery. Set by the store.
    public var delivery = OutboxDelivery()

    init(id: OutboxID, _ terms: Terms, sequence: Int64 = 0, _ delivery: OutboxDelivery = OutboxDelivery()) {
        self.id = id
        self.terms = terms
        self.sequence = sequence
        self.delivery = delivery
    }

    /// The name of the endpoint's form.
    public var name: String { terms.name }
    /// The version of the endpoint's form.
    public var version: Int { terms.version }
    /// The protection against being executed twice.
    public var guarantee: DeliveryGuarantee { terms.guarantee }
    /// The order that the entry keeps; `nil` for an entry that is independent of all others.
    public var order: OutboxOrder? { terms.order }
    /// The topic of which only the last entry matters, if any.
    public var topic: String? { terms.topic }
    /// The account whose session the entry belongs to, if any.
    public var account: String? { terms.account }
    /// The files that it sends.
    public var attachments: [OutboxAttachment] { terms.attachments }
    /// When it was written.
    public var created: Date { terms.created }
    /// When it becomes a dead letter unless it has been delivered.
    public var expires: Date? { terms.expires }
    /// Whether the endpoint is sealed.
    public var isSealed: Bool { terms.isSealed }

    /// The name under which a store keeps the given key of a delivered entry, as ``UsedKey/key``: the key, behind the account
    /// if the entry has one. `nil` if the key was not given.
    public var usedKeyName: String? {
        guard terms.isKeyGiven == true, let key = guarantee.key else { return nil }
        return account.map { "\($0)\n\(key)" } ?? key
    }

    /// The queue of entries that are sent one after another; `nil` for an entry that is independent of all others.
    var queueName: String? {
        terms.order.map { "o" + $0.key } ?? terms.topic.map { "t\(account ?? "")\n\($0)" }
    }
    /// Whether the entry keeps those behind it in its queue from being sent when it is dead.
    var blocksWhenDead: Bool { terms.order?.afterDeath == .block }

    /// The time from which a repetition would not be safe any more, if the entry may have reached the server.
    var keyEnd: Date? {
        guard case .key(_, let rules) = guarantee, let since = delivery.mayHaveArrivedSince else {
            return nil
        }
        return since + rules.safeTime
    }
}

/// The order that entries keep: those with the same key are sent one after another, in the order in which they were
/// written; others are sent in parallel.
public struct OutboxOrder: Sendable, Hashable, Codable, ExpressibleByStringInterpolation {
    /// The treatment of the entries behind a dead one.
    public enum AfterDeath: String, Sendable, Hashable, Codable {
        // Stores have the raw values.

        /// They wait until the dead entry has been sent again or removed.
        case block
        /// They are sent as if the dead entry had been delivered.
        case release
    }

    /// The key, such as an account or a document.
    public let key: String
    /// The treatment of the entries behind a dead one.
    public let afterDeath: AfterDeath

    /// Creates an order.
    ///
    /// - Parameters:
    ///   - key: the key, such as an account or a document.
    ///   - afterDeath: the treatment of the entries behind a dead one. Default: they wait.
    public init(_ key: String, afterDeath: AfterDeath = .block) {
        self.key = key
        self.afterDeath = afterDeath
    }

    /// Creates an order whose entries wait behind a dead one.
    public init(stringLiteral key: String) { self.init(key) }
}

/// The state of an entry's delivery, as it is stored.
public struct OutboxDelivery: Sendable, Hashable, Codable {
    /// The phase of a delivery.
    public enum Phase: Sendable, Hashable, Codable {
        // Stores have the names of the cases (JSON), or their numbers in `CompactEntry`.

        /// Not sent yet.
        case queued
        /// Being sent, or was being sent when the process ended.
        case sending
        /// To be sent again at a time.
        case waiting(until: Date, WaitReason)
        /// Not sent any more, unless somebody decides so.
        case dead(DeadReason)
    }

    /// The number of attempts, including the running one.
    public internal(set) var attempts = 0
    /// The time of the first attempt that may have reached the server; `nil` if certainly none has.
    public internal(set) var mayHaveArrivedSince: Date?
    /// The phase.
    public internal(set) var phase = Phase.queued
    /// When the phase began; `nil` for an entry that has not been sent yet.
    public internal(set) var since: Date?

    private enum CodingKeys: String, CodingKey {
        case attempts
        // The name of the property in older releases, which stored entries have.
        case mayHaveArrivedSince = "uncertainSince"
        case phase
        case since
    }

    /// The reason, if the entry is dead.
    public var deadReason: DeadReason? {
        if case .dead(let reason) = phase { reason } else { nil }
    }
}

/// The failure of an attempt, as it is stored: without body and header fields.
public struct OutboxFailure: Sendable, Hashable, Codable {
    // Stores have the members, in JSON by their names, and in `CompactEntry` by their positions.

    /// The kind, the raw value of a `NetworkError.Code`.
    public let code: String
    /// The status of the response, if there was one.
    public let status: Int?
    /// A description without text of the server.
    public let message: String
    /// The server's own text, if it gave a reason; at most 500 characters. Check it before you log it.
    public let serverMessage: String?

    init(_ error: NetworkError) {
        code = error.code.rawValue
        status = error.status?.code
        message = error.withoutServerText.message
        serverMessage = error.serverMessage.map { String($0.prefix(500)) }
    }
}

extension OutboxFailure: RedactedDescription {
    /// The kind, the status and the description, without text of the server.
    public var description: String {
        code + (status.map { " [\($0)]" } ?? "") + (message.isEmpty ? "" : ": " + message)
    }
}

/// The reason why an entry waits.
public enum WaitReason: Sendable, Hashable, Codable {
    // Stores have the names of the cases (JSON), or their numbers in `CompactEntry`.

    /// The attempt failed, and another one may help.
    case failure(OutboxFailure)
    /// The server is still processing an earlier attempt with the same key.
    case inProgress
    /// The process ended, or the outbox was closed, during an attempt.
    case interrupted
    /// The account that wrote the entry is not logged in.
    case account
    /// This program cannot read the endpoint, of a newer version or of an unknown name, and another version of the app
    /// may; with the reason. It is tried again when another process becomes the sender.
    case unreadable(String)
}

/// The reason why an entry is not sent any more.
public enum DeadReason: Sendable, Hashable, Codable {
    // Stores have the names of the cases (JSON), or their numbers in `CompactEntry`.

    /// The final answer of the server, or a failure that another attempt would not change. With a status of 2xx the request
    /// was executed, and its answer could not be decoded.
    case refused(OutboxFailure)
    /// The key was used with another body before.
    case keyReused(OutboxFailure)
    /// The server may have forgotten the key, and the entry may have been executed; with the latest failure.
    case keyExpired(WaitReason?)
    /// It may have arrived, and must not be sent twice; with the reason.
    case uncertain(WaitReason)
    /// It could not be delivered within its time; with the latest failure.
    case expired(WaitReason?)
    /// The stored endpoint cannot be read, and is of the program's own version or of an older one; with the reason.
    case unreadable(String)
    /// A file that it sends is missing or has changed.
    case attachment(path: String)
}

extension WaitReason: CustomStringConvertible {
    /// A phrase.
    public var description: String {
        switch self {
        case .failure(let failure): "\(failure)"
        case .inProgress: "an earlier attempt is still being processed"
        case .interrupted: "interrupted during an attempt"
        case .account: "its account is not logged in"
        case .unreadable(let reason): "another release must send it: \(reason)"
        }
    }
}

extension WaitReason {
    /// Something that may end a wait before its time.
    enum Occasion {
        /// A login of any account.
        case login
        /// The return of the network.
        case network
        /// Another process becomes the sender, perhaps with another version of the app.
        case newSender
    }

    /// Whether the occasion may end the wait.
    func mayEnd(by occasion: Occasion) -> Bool {
        switch (self, occasion) {
        case (.account, .login): true
        case (.failure(let failure), .login):
            [NetworkError.Code.loginExpired, .loginFailed].map(\.rawValue).contains(failure.code)
        case (.failure(let failure), .network): failure.status == nil
        case (.interrupted, .network): true
        case (.unreadable, .newSender): true
        case (.account, _), (.failure, _), (.inProgress, _), (.interrupted, _), (.unreadable, _): false
        }
    }
}

extension DeadReason: CustomStringConvertible {
    /// A phrase.
    public var description: String {
        func after(_ reason: WaitReason?) -> String { reason.map { "; last: \($0)" } ?? "" }
        return switch self {
        case .refused(let failure): "refused: \(failure)"
        case .keyReused(let failure): "its key was used with another body: \(failure)"
        case .keyExpired(let reason):
            "it may have been executed, and the server may have forgotten its key" + after(reason)
        case .uncertain(let reason): "it may have arrived: \(reason)"
        case .expired(let reason): "not delivered in time" + after(reason)
        case .unreadable(let reason): "unreadable: \(reason)"
        case .attachment(let path): "the file \(path) is missing or has changed"
        }
    }
}

extension OutboxEntry: RedactedDescription {
    /// The id, the name of its form and its phase.
    public var description: String {
        let phase =
            switch delivery.phase {
            case .queued: "queued"
            case .sending: "sending (attempt \(delivery.attempts))"
            case .waiting(let date, let reason): "waiting until \(date): \(reason)"
            case .dead(let reason): "dead: \(reason)"
            }
        return "\(name) \(id) \(phase)"
    }
}

extension Date {
    static func + (date: Date, duration: Duration) -> Date {
        date.addingTimeInterval(duration / .seconds(1))
    }
}
#endif
