/// How long each phase of one attempt may take. `nil` is no limit.
///
/// All of them are measured by the transport's own scheduler, and each is named in the error it causes.
public struct Timeouts: Sendable, Equatable {
    /// From the start of an attempt to an open connection, name resolution and TLS included.
    /// Default 10 s.
    public var connect: Duration?
    /// From the start of an attempt to its end. Default none.
    public var attempt: Duration?
    /// From the subscription to the end of everything, retries, waits and redirects included.
    /// Default none.
    public var total: Duration?

    /// Creates a set of limits.
    public init(connect: Duration? = .seconds(10), attempt: Duration? = nil, total: Duration? = nil) {
        self.connect = connect
        self.attempt = attempt
        self.total = total
    }
}
