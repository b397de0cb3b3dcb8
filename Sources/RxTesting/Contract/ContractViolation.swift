/// Something that a stream did and must not do.
public struct ContractViolation: Error, Sendable, Equatable, CustomStringConvertible {
    /// The rules of Docs/Contracts.md that can be broken.
    public enum Rule: String, Sendable {
        /// An event began while another was being delivered.
        case serial
        /// A second end.
        case oneEnd
        /// A value after the end.
        case nothingAfterEnd
        /// An event after the subscription had been cancelled or its scope closed.
        case silentAfterCancel
        /// A teardown that a source registered with `onClose` ran more than once.
        case teardownOnce
        /// A source was not torn down at the end.
        case teardown
        /// Timers were left after the end.
        case noTimersLeft
        /// Values, callbacks or the scope were still held after the end.
        case nothingAlive
        /// A source without end was not stopped.
        case stopsEarly
        /// A source that can wait went on while the subscription was paused.
        case brake
        /// After a pause, not the same events came as without it.
        case sameAfterPause
        /// The stream itself threw a virtual time error: it scheduled without end.
        case endsInVirtualTime
    }

    /// The rule.
    public let rule: Rule
    /// In which of the checker's situations.
    public let situation: String
    /// The observation.
    public let detail: String

    /// One line.
    public var description: String { "\(rule.rawValue), \(situation): \(detail)" }
}
