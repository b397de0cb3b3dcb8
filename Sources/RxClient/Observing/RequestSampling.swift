import RxLite
import Synchronization

/// Chooses the requests that an observer is shown: all, or as many as a rate allows. Safe from any thread.
package final class RequestSampling: Sendable {
    private struct Progress {
        var bucket: TokenBucket?
        var omitted = 0
        var isSuspended = false
        /// Called when the next request is omitted.
        var onOmission: (@Sendable () -> Void)?
    }

    private let progress: Mutex<Progress>
    private let origin = ContinuousClock.now

    /// - Parameter rate: the rate of the shown requests, in real time; `nil` for all requests.
    package init(_ rate: RequestRate?) {
        progress = Mutex(Progress(bucket: rate.map { TokenBucket($0) }))
    }

    /// Whether no request is shown that begins meanwhile, because the observer is behind. Default false.
    package var isSuspended: Bool {
        get { progress.withLock { $0.isSuspended } }
        set { progress.withLock { $0.isSuspended = newValue } }
    }

    /// The number of requests that were not shown so far.
    package var omittedCount: Int { progress.withLock { $0.omitted } }

    /// Runs `body` once, when the next request is omitted. Replaces the body of the call before.
    package func onNextOmission(_ body: @escaping @Sendable () -> Void) {
        progress.withLock { $0.onOmission = body }
    }

    /// Whether the request that begins now is shown.
    func admits() -> Bool {
        let now = ContinuousClock.now - origin
        var onOmission: (@Sendable () -> Void)?
        let isShown = progress.withLock { progress in
            guard !progress.isSuspended, progress.bucket?.wait(at: now) ?? .zero == .zero else {
                progress.omitted += 1
                onOmission = progress.onOmission.take()
                return false
            }
            progress.bucket?.take(at: now)
            return true
        }
        onOmission?()
        return isShown
    }
}
