/// A violation of the contract by a stream.
public struct ContractViolation: Error, Sendable, Equatable, CustomStringConvertible {
    /// The rules of Docs/Contracts.md that can be broken.
    public enum Rule: String, Sendable {
        /// An event began while another was being delivered.
        case serial
        /// The stream ended twice.
        case oneEnd
        /// A value came after the end.
        case nothingAfterEnd
        /// An event came after the subscription was cancelled or its scope closed.
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
        /// A source that can wait continued while the subscription was paused.
        case brake
        /// After a pause, other events came than without it.
        case sameAfterPause
        /// The stream scheduled work without end, so that virtual time stopped with an error.
        case endsInVirtualTime
    }

    /// The broken rule.
    public let rule: Rule
    /// The situation that the checker had set up.
    public let situation: String
    /// The observation.
    public let detail: String

    /// One line.
    public var description: String { "\(rule.rawValue), \(situation): \(detail)" }
}
