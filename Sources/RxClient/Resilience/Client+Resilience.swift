extension Client {
    /// The circuit breaker of a server's host; `nil` if the configuration has no
    /// ``ClientConfiguration/circuitBreaker``, or the client has no such server.
    ///
    /// ```swift
    /// client.circuitBreaker()?.state.subscribe { state in lamp.show(state) }
    /// ```
    public func circuitBreaker(of server: ServerRole = .main) -> CircuitBreaker? {
        servers.pair[server]?.host?.breaker
    }

    /// The limiter for ``ClientConfiguration/limits`` and ``ClientConfiguration/hostLimits``; `nil` without
    /// limits.
    public var limiter: RequestLimiter? { hosts.limiter }
}
