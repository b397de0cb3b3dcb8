/// Another place where the resources of an origin are served (RFC 7838).
struct AlternativeService: Hashable {
    /// The protocol by its name in ALPN, such as `h3` or `http/1.1`.
    var protocolID: String
    /// In lower case, IPv6 addresses without brackets; empty for the origin's own host.
    var host: String
    var port: Int
    /// How long it may be used, in seconds (`ma`).
    var maxAge = defaultAge
    /// Whether it outlives a change of the network (`persist=1`).
    var persists = false

    /// Whether the two are the same but for their time.
    func isPlaced(as other: AlternativeService) -> Bool {
        protocolID == other.protocolID && host == other.host && port == other.port
            && persists == other.persists
    }

    /// 24 hours (RFC 7838 §3.1).
    static let defaultAge = 24 * 3600
    /// A year; a longer time is taken for this.
    static let longestAge = 365 * 24 * 3600
    /// How many of an origin are looked at.
    static let limit = 16
}

/// The value of an `Alt-Svc` field.
enum AlternativeServiceField: Equatable {
    /// Nothing that was said before holds any more.
    case clear
    /// These, in the server's order of preference, in place of what was said before. May be empty.
    case services([AlternativeService])

    /// Reads a field value (RFC 7838 §3), several fields joined by commas.
    ///
    /// An alternative that is malformed ends the list; the ones before it hold. What is well-formed but of no use, such
    /// as an age that is no number, is left out by itself.
    init(_ value: some Sequence<UInt8>) {
        var reader = AlternativeServiceReader(value)
        self = reader.field()
    }
}
