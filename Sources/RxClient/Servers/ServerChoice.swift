/// Which server an endpoint's requests go to.
public enum ServerChoice: Sendable, Hashable {
    /// The active one (``Servers/active``); with a ``Failover``, the other one too where the first does not answer.
    case active
    /// The main server, whatever state it is in.
    case main
    /// The vice server. A client that has none fails with `invalidURL`.
    case vice
}
