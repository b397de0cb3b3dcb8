public import RxHTTP

/// What ``Client/progress(of:)`` tells of a request.
public enum ProgressEvent<Output: Sendable>: Sendable {
    /// So much of the request's body has been handed to the network.
    case uploaded(TransferProgress)
    /// So much of the answer's body has arrived.
    case downloaded(TransferProgress)
    /// The typed result; the last value.
    case answered(Answer<Output>)
}
