public import RxHTTP

/// The outcome of a request.
public enum RequestOutcome: Sendable {
    /// The subscriber received the result.
    case succeeded
    /// The subscriber received an error.
    indirect case failed(NetworkError)
    /// The subscription was cancelled, or the request was cancelled by ``Client/cancel(_:)``.
    case cancelled
}
