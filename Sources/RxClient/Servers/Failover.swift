/// When a client's standby server takes over, and when the main server is probed.
///
/// A request whose server does not respond is sent to the other server at once, within the same attempt: with
/// any method if nothing was sent (a failure of name resolution, connection or TLS, or an open circuit), and
/// after 502, 503 and 504 if it may be sent twice. If the other server responds, it becomes the active one.
/// The standby server stays active until the main server has responded to a probe: one repeatable request at
/// a time, which goes to the standby server if the main server still does not respond.
public struct Failover: Sendable, Hashable {
    /// How long the standby server is active before the main server is probed, and the time between probes.
    /// Default 30 s.
    public var probeInterval: Duration

    /// Creates a rule.
    public init(probeInterval: Duration = .seconds(30)) { self.probeInterval = probeInterval }
}
