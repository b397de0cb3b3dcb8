extension CircuitBreaker {
    /// When a circuit opens, and for how long.
    public struct Policy: Sendable, Hashable {
        /// The share of failures that opens the circuit, from 0 to 1. Default 0.5.
        public var failureRatio: Double
        /// The minimum number of requests in the window. Default 20.
        public var minimumRequests: Int
        /// The length of the window, which slides in tenths. Default 10 s.
        public var window: Duration
        /// How long the circuit stays open before it is probed. Default 30 s.
        public var openDuration: Duration
        /// The number of requests admitted at a time as probes, all of which must succeed to close the
        /// circuit; one failure opens it again. Default 1.
        public var probes: Int

        /// Creates a policy.
        public init(
            failureRatio: Double = 0.5, minimumRequests: Int = 20, window: Duration = .seconds(10),
            openDuration: Duration = .seconds(30), probes: Int = 1
        ) {
            self.failureRatio = failureRatio
            self.minimumRequests = minimumRequests
            self.window = window
            self.openDuration = openDuration
            self.probes = probes
        }
    }
}
