/// The roles of a service's two servers.
public enum ServerRole: Sendable, Hashable {
    /// The primary server of the service.
    case main
    /// The server that replaces the main one, or provides the rest of the API.
    case standby

    var other: ServerRole { self == .main ? .standby : .main }
}
