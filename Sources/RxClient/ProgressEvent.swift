public import RxHTTP

/// An event of ``Client/progress(of:)``.
public enum ProgressEvent<Output: Sendable>: Sendable {
    /// The bytes of the request's body that have been handed to the network.
    case uploaded(TransferProgress)
    /// The bytes of the response's body that have arrived.
    case downloaded(TransferProgress)
    /// The typed result; the last value.
    case finished(TypedResponse<Output>)
}
