public import RxHTTP

/// How a request ended.
public enum RequestOutcome: Sendable {
    /// The subscriber got its result.
    case succeeded
    /// The subscriber got an error.
    indirect case failed(NetworkError)
    /// Nobody wanted the result any more: its subscription was cancelled, or the request itself by
    /// ``Client/cancel(_:)``.
    case cancelled
}
