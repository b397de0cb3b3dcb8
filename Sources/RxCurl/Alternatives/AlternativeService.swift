/// An alternative service: another host, port or protocol that serves the resources of an origin (RFC 7838).
struct AlternativeService: Hashable {
    /// The ALPN name of the protocol, such as `h3` or `http/1.1`.
    var protocolID: String
    /// In lower case, IPv6 addresses without brackets; empty for the host of the origin.
    var host: String
    var port: Int
    /// How long it may be used, in seconds (`ma`).
    var maxAge = defaultAge
    /// Whether it remains valid after a change of the network (`persist=1`).
    var persists = false

    /// Whether both are equal except for their age.
    func isPlaced(as other: AlternativeService) -> Bool {
        protocolID == other.protocolID && host == other.host && port == other.port
            && persists == other.persists
    }

    /// 24 hours (RFC 7838 §3.1).
    static let defaultAge = 24 * 3600
    /// A year; longer ages are cut to this.
    static let longestAge = 365 * 24 * 3600
    /// The maximum number of alternatives that are read for an origin.
    static let limit = 16
}

/// The value of an `Alt-Svc` field.
enum AlternativeServiceField: Equatable {
    /// All earlier alternatives are invalid.
    case clear
    /// Replaces the earlier alternatives, in the server's order of preference. May be empty.
    case services([AlternativeService])

    /// Parses a field value (RFC 7838 §3); several fields are joined by commas.
    ///
    /// A malformed alternative ends the list; the ones before it are valid. A well-formed but unusable
    /// alternative, such as one with a `ma` that is not a number, is skipped.
    init(_ value: some Sequence<UInt8>) {
        var reader = AlternativeServiceReader(value)
        self = reader.field()
    }
}
