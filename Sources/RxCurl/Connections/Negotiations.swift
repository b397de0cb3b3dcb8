internal import RxHTTP

/// The negotiations of the known origins.
struct Negotiations {
    private let settings: ConnectionSettings
    /// By the key of the origin in the queue.
    private var known: [String: Negotiation] = [:]

    private static let limit = 1024

    init(_ settings: ConnectionSettings) { self.settings = settings }

    /// The negotiation of an origin; `nil` if its version is not negotiated.
    mutating func negotiation(with key: String, of origin: Origin?, for target: CheckedURL) -> Negotiation? {
        guard settings.negotiates(target) else { return nil }
        if let negotiation = known[key] { return negotiation }
        if known.count >= Self.limit { known = known.filter { !$0.value.isIdle } }
        let made = Negotiation(place: origin.flatMap(AlternativeTable.Place.init))
        known[key] = made
        return made
    }
}
