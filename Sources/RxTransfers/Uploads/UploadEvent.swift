public import RxHTTP

/// An event of an upload.
///
/// The order: ``started(from:)``, then progress, with pauses between, then ``verified(_:)`` if the server gave a digest or
/// compared one, and ``finished(_:)``.
public enum UploadEvent<Output: Sendable>: Sendable {
    /// The server has an upload for the content, and so many bytes of it from earlier runs.
    case started(from: Int64)
    /// The bytes that have been handed to the network, at most 20 values a second and always the last one. After an
    /// interruption it goes back to what the server has.
    case progress(TransferRate)
    /// The upload was interrupted by this failure, and goes on after a wait.
    case paused(NetworkError, for: Duration)
    /// The upload goes on, at this offset.
    case resumed(from: Int64)
    /// The server has the content with this digest: it sent the same, or compared it.
    case verified(TransferDigest)
    /// The result that the endpoint made of the last response. The last value.
    case finished(Output)
}

extension UploadEvent {
    /// The event with another type of result.
    func map<T>(
        _ transform: (Output) throws(NetworkError) -> T
    ) throws(NetworkError) -> UploadEvent<T> {
        switch self {
        case .started(let offset): .started(from: offset)
        case .progress(let rate): .progress(rate)
        case .paused(let error, let delay): .paused(error, for: delay)
        case .resumed(let offset): .resumed(from: offset)
        case .verified(let digest): .verified(digest)
        case .finished(let output): .finished(try transform(output))
        }
    }
}
