/// The server that an endpoint's requests go to.
public enum ServerChoice: Sendable, Hashable {
    /// The active server (``Servers/active``); with a ``Failover``, also the other server if the active one
    /// does not respond.
    case active
    /// Always the main server.
    case main
    /// The standby server. Fails with `invalidURL` if the client has no standby server.
    case standby
}
