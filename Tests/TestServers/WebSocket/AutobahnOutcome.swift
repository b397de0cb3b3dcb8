/// The judgement on one case.
public struct AutobahnOutcome: Sendable {
    /// The judgement on the client's messages.
    public enum Behavior: String, Sendable, CaseIterable {
        /// As required.
        case ok = "OK"
        /// Allowed, but not the best behaviour, such as detecting an error late.
        case nonStrict = "NON-STRICT"
        /// Wrong.
        case failed = "FAILED"
        /// Observed without a judgement.
        case informational = "INFORMATIONAL"
        /// The client lacks the optional extension.
        case unimplemented = "UNIMPLEMENTED"
    }

    /// The judgement on the end of the connection.
    public enum CloseBehavior: String, Sendable, CaseIterable {
        /// As required.
        case ok = "OK"
        /// The wrong side closed, or there was no connection.
        case failed = "FAILED"
        /// The client sent a close code that does not fit.
        case wrongCode = "WRONG CODE"
        /// The connection was dropped without an exchange of close frames.
        case unclean = "UNCLEAN"
        /// Observed without a judgement.
        case informational = "INFORMATIONAL"
    }

    /// The number of the case.
    public let number: String
    /// The judgement on the messages.
    public internal(set) var behavior: Behavior
    /// The reason for ``behavior``.
    public internal(set) var explanation: String
    /// The judgement on the end.
    public internal(set) var closeBehavior: CloseBehavior
    /// The reason for ``closeBehavior``.
    public internal(set) var closeExplanation: String
    /// The code in the client's close frame; `nil` if there was no frame or no code.
    public internal(set) var closeCode: UInt16?
    /// The time from the opening to the end of the connection.
    public internal(set) var duration: Duration = .zero

    /// Whether neither judgement is worse than OK or INFORMATIONAL.
    public var isOK: Bool {
        (behavior == .ok || behavior == .informational)
            && (closeBehavior == .ok || closeBehavior == .informational)
    }
}

extension AutobahnOutcome: CustomStringConvertible {
    /// One line: the number, both judgements and their reasons.
    public var description: String {
        "\(number) \(behavior.rawValue) (\(explanation)), "
            + "close \(closeBehavior.rawValue) (\(closeExplanation))"
    }

    /// The section of the case.
    public var section: Int { Int(number.prefix { $0 != "." }) ?? 0 }
}
