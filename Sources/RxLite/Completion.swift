/// How a stream ended.
@frozen
public enum Completion<Failure: Error>: Sendable {
    /// Every value has been delivered.
    case finished
    /// The stream failed; no value follows.
    case failed(Failure)
}

extension Completion: Equatable where Failure: Equatable {}
