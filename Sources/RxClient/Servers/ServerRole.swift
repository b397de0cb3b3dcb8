/// Which of a service's two servers is meant.
public enum ServerRole: Sendable, Hashable {
    /// The one that the service usually is at.
    case main
    /// The server that replaces it, or has the rest of the API.
    case standby

    var other: ServerRole { self == .main ? .standby : .main }
}
