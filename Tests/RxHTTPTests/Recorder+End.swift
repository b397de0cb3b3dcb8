import RxLite
import RxTesting

extension Recorder {
    /// The error the stream ended with, if it did.
    var failure: Failure? {
        if case .failed(let error) = completion { error } else { nil }
    }

    /// Whether the stream ended well.
    var isFinished: Bool {
        if case .finished = completion { true } else { false }
    }
}
