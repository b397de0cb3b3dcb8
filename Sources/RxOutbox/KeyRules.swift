#if Outbox
import FoundationEssentials
import RxHTTP

/// The rules by which a service treats an `Idempotency-Key`: what the outbox may conclude from its responses, and how
/// long a repetition is safe.
///
/// ```swift
/// var rules = KeyRules.draft(lifetime: .seconds(6 * 3600))
/// rules.field = "X-Request-Token"
/// ```
///
/// The rules are stored with each entry, which keeps those it was written with.
public struct KeyRules: Sendable, Hashable, Codable {
    /// The meaning of a status for a request with a key.
    public enum Meaning: String, Sendable, Hashable, Codable {
        // Stores have the raw values.

        /// The first request with the key is still being processed: try again later, with the same key.
        case inProgress
        /// The key belongs to a request with another body: a dead letter (``DeadReason/keyReused(_:)``).
        case keyReused
        /// The request is refused, as for any other 4xx status: a dead letter.
        case refused
    }

    // `CompactEntry` stores the members by their positions: another member is another version of that form. JSON, in
    // shared stores of RxFleet and in rows of older releases, has their names; a new member must be optional there.

    /// The name of the header field. Default `Idempotency-Key`.
    public var field = "Idempotency-Key"
    /// Whether the key is sent as a string of a structured field, in quotation marks (RFC 9651 §3.3.3).
    public var isQuoted: Bool
    /// How long the server remembers a key, from the first request with it.
    public var lifetime: Duration
    /// The time before the end of ``lifetime`` from which an entry is not sent any more, since a request takes time and
    /// clocks differ. Default a minute, at most a tenth of the lifetime.
    public var margin: Duration
    /// The meaning of the status 409. Default ``Meaning/inProgress``: the entry is sent again later.
    public var conflict: Meaning
    /// The meaning of the status 422. Default ``Meaning/keyReused``: the entry becomes a dead letter.
    public var unprocessable: Meaning
    /// Whether the server repeats a stored 500 for the same key, so that sending again changes nothing: a 500 is final
    /// then. Otherwise it is a failure that passes.
    public var repeatsServerErrors: Bool
    /// Whether the server compares the body with that of the first request. An edited entry gets a new key
    /// then, and keeps its key otherwise.
    public var comparesBody: Bool

    /// Creates rules.
    ///
    /// - Parameters:
    ///   - lifetime: how long the server remembers a key.
    ///   - isQuoted: whether the key is sent in quotation marks. Default false.
    ///   - conflict: the meaning of 409. Default: the first request is still being processed.
    ///   - unprocessable: the meaning of 422. Default: the key belongs to another body.
    ///   - repeatsServerErrors: whether a stored 500 is repeated. Default false.
    ///   - comparesBody: whether bodies are compared. Default true.
    public init(
        lifetime: Duration, isQuoted: Bool = false, conflict: Meaning = .inProgress,
        unprocessable: Meaning = .keyReused, repeatsServerErrors: Bool = false, comparesBody: Bool = true
    ) {
        self.lifetime = lifetime
        self.isQuoted = isQuoted
        self.conflict = conflict
        self.unprocessable = unprocessable
        self.repeatsServerErrors = repeatsServerErrors
        self.comparesBody = comparesBody
        margin = min(.seconds(60), lifetime / 10)
    }

    /// Stripe's rules (<https://docs.stripe.com/api/idempotent_requests>): keys may be removed after 24 hours, the
    /// status and the body of the first request are repeated, "including 500 errors", and 409 reports a request that is
    /// being processed. A key with other parameters is refused with 400.
    public static let stripe = KeyRules(
        lifetime: .seconds(24 * 3600), unprocessable: .refused, repeatsServerErrors: true)

    /// The rules of draft-ietf-httpapi-idempotency-key-header-07 §2.6 and §2.7: the key is a structured string, 409
    /// reports a request that is being processed, and 422 a key that was used with another body.
    ///
    /// - Parameter lifetime: how long the server remembers a key, which it publishes (§2.3). Required: the draft names
    ///   no time.
    public static func draft(lifetime: Duration) -> KeyRules { KeyRules(lifetime: lifetime, isQuoted: true) }

    /// The value of the field for a key.
    func value(for key: String) -> String {
        guard isQuoted else { return key }
        return "\"" + key.replacing("\\", with: "\\\\").replacing("\"", with: "\\\"") + "\""
    }

    /// How long after the first request another one is safe.
    var safeTime: Duration { max(lifetime - max(margin, .zero), .zero) }
}

/// The way in which an entry is protected against being executed twice.
public enum OutboxKey: Sendable, Hashable {
    /// A random `Idempotency-Key`, a UUID made when the entry is written, by the rules of the service.
    case generated(KeyRules)
    /// This `Idempotency-Key`, such as the number of an order. While an entry with the key is stored, and after its delivery
    /// until the end of the key's life, enqueueing another one returns the ticket of the first, so that a program that was
    /// interrupted can enqueue again. The key is free once its dead letter is removed or gets a new key.
    case given(String, KeyRules)
    /// No key, since the service knows none.
    case withoutKey(Repetition)

    var isGiven: Bool {
        if case .given = self { true } else { false }
    }

    /// The choice that remains without a key.
    public enum Repetition: Sendable, Hashable {
        /// Sent again whenever it is unknown whether it has arrived: it may be executed several times.
        case atLeastOnce
        /// Sent again only if it certainly has not arrived: it may never be executed, and becomes a dead letter with the
        /// reason ``DeadReason/uncertain(_:)`` then.
        case atMostOnce
    }
}

/// The protection of a stored entry.
public enum DeliveryGuarantee: Sendable, Hashable, Codable {
    // Stores have the names of the cases (JSON), or their numbers in `CompactEntry`.

    /// The key, the same for all attempts, and the rules of the service.
    case key(String, KeyRules)
    /// At least once.
    case atLeastOnce
    /// At most once.
    case atMostOnce

    /// The key, if there is one.
    public var key: String? {
        if case .key(let key, _) = self { key } else { nil }
    }
}

extension DeliveryGuarantee {
    /// - Throws: `invalidParameters` for a key that no header field can hold.
    init(_ key: OutboxKey, at date: Date) throws(NetworkError) {
        switch key {
        case .generated(let rules): self = .key(UUID.ordered(at: date).uuidString, rules)
        case .given(let key, let rules):
            guard (1...255).contains(key.utf8.count), key.allBytes({ (0x21...0x7E).contains($0) }) else {
                throw NetworkError(
                    .invalidParameters, "an idempotency key has 1 to 255 visible ASCII characters")
            }
            self = .key(key, rules)
        case .withoutKey(.atLeastOnce): self = .atLeastOnce
        case .withoutKey(.atMostOnce): self = .atMostOnce
        }
    }
}
#endif
