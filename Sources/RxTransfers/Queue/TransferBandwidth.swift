import RxHTTP
import RxLite
import Synchronization

/// A limit of bytes per second that several transfers share.
///
/// ```swift
/// let bandwidth = TransferBandwidth(bytesPerSecond: 500_000)
/// var options = PartedDownload.Options()
/// options.bandwidth = bandwidth
/// bandwidth.bytesPerSecond = nil
/// ```
///
/// A limit can be part of another one: that of a queue, of the limit of all queues.
///
/// A download that is too fast applies backpressure to its connections, and an upload waits before it reads more of its
/// content. Thread-safe.
public final class TransferBandwidth: Sendable {
    private let bucket: Mutex<TokenBucket>
    private let whole: TransferBandwidth?

    /// Creates a limit.
    ///
    /// - Parameters:
    ///   - bytesPerSecond: the limit, at least 1. Default `nil`: none, until one is set.
    ///   - whole: the limit that this one shares with others, in addition. Default none.
    public init(bytesPerSecond: Int64? = nil, within whole: TransferBandwidth? = nil) {
        bucket = Mutex(TokenBucket(rate: bytesPerSecond))
        self.whole = whole
    }

    /// The limit; `nil` for none.
    public var bytesPerSecond: Int64? {
        get { bucket.withLock { $0.rate } }
        set { bucket.withLock { $0.rate = newValue.map { max(1, $0) } } }
    }

    /// Counts bytes that have been moved.
    ///
    /// - Returns: how long to wait before the next bytes.
    func take(_ count: Int, at now: Duration) -> Duration {
        let own = bucket.withLock { $0.take(count, at: now) }
        return max(own, whole?.take(count, at: now) ?? .zero)
    }
}

/// The bytes that may be moved at a time: a tenth of a second's worth at once, and then as many as the rate allows.
struct TokenBucket: Sendable {
    /// The bytes per second; `nil` for no limit.
    var rate: Int64?
    private var tokens = 0.0
    private var last: Duration?

    init(rate: Int64?) { self.rate = rate.map { max(1, $0) } }

    /// Takes bytes that have been moved, and returns how long nothing more may be moved.
    mutating func take(_ count: Int, at now: Duration) -> Duration {
        guard let rate else {
            last = nil
            return .zero
        }
        let most = Double(rate) / 10
        if let last {
            tokens = min(most, tokens + (now - last) / .seconds(1) * Double(rate))
        } else {
            tokens = most
        }
        last = now
        tokens -= Double(count)
        return tokens >= 0 ? .zero : .seconds(-tokens / Double(rate))
    }
}

extension Observable where Element == [UInt8] {
    /// The chunks, no faster than the limit allows.
    func limited(by bandwidth: TransferBandwidth?, on clock: any Scheduler) -> Observable {
        guard let bandwidth else { return self }
        return Observable(scheduler: scheduler) { observer in
            let scope = observer.scope.child()
            let timer = OperatorTimer(clock, in: scope)
            self.subscribe(
                Observer(
                    scope: scope,
                    next: { chunk in
                        observer.next(chunk)
                        guard scope.isOpen else { return }
                        let wait = bandwidth.take(chunk.count, at: clock.now)
                        guard wait > .zero else { return }
                        scope.pause()
                        timer.set(after: wait) { scope.resume() }
                    },
                    end: { completion in
                        scope.close()
                        observer.end(completion)
                    }))
        }
    }
}
