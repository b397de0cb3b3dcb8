/// The factors for the suite's times.
public struct Pace: Sendable {
    /// For the first of two waits in 6.4, and the wait of 5.19 and 5.20, in which a conforming client only
    /// has to keep the connection open.
    public var waits: Double
    /// For the time after which the server gives up on a client; a conforming client never needs it.
    public var limits: Double
    /// The longest time without a byte from the client in which the server waits for an echo, in addition to
    /// the limit of the case.
    public var silence: Duration

    /// Creates a pace; by default a quarter of the suite's waits, twice its limits, and 20 seconds of
    /// silence.
    public init(waits: Double = 0.25, limits: Double = 2, silence: Duration = .seconds(20)) {
        self.waits = waits
        self.limits = limits
        self.silence = silence
    }
}
