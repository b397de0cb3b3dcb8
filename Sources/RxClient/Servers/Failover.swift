/// When a client's vice server takes over, and when the main server is looked at again.
///
/// A request whose server does not answer is sent to the other one at once, within the same attempt: where it is
/// certain that nothing was sent (the name, the connection, TLS, or an open circuit), whatever the method; and after
/// 502, 503 and 504 where it may be sent twice. When the other server answers it is the active one from then on. The
/// vice server stays active until the main server has answered a probe: one request at a time, of those that may
/// be sent twice, which goes on to the vice server if the main server still does not answer.
public struct Failover: Sendable, Hashable {
    /// How long the vice server is active before the main server is probed, and between probes. Default 30 s.
    public var probeInterval: Duration

    /// Creates a rule.
    public init(probeInterval: Duration = .seconds(30)) { self.probeInterval = probeInterval }
}
