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
    private let bucket: Mutex<ByteBucket>
    private let whole: TransferBandwidth?

    /// Creates a limit.
    ///
    /// - Parameters:
    ///   - bytesPerSecond: the limit, at least 1. Default `nil`: none, until one is set.
    ///   - whole: the limit that this one shares with others, in addition. Default none.
    public init(bytesPerSecond: Int64? = nil, within whole: TransferBandwidth? = nil) {
        bucket = Mutex(ByteBucket(rate: bytesPerSecond))
        self.whole = whole
    }

    /// The limit; `nil` for none.
    public var bytesPerSecond: Int64? {
        get { bucket.withLock { $0.rate } }
        set { bucket.withLock { $0.rate = newValue.map { max(1, $0) } } }
    }

    /// The least of this limit and of those that it is part of; `nil` for none.
    var narrowest: Int64? { [bytesPerSecond, whole?.narrowest].compactMap { $0 }.min() }

    /// The most bytes to move at once: those of a tenth of a second, so that a change of the limit shows soon.
    var slice: Int { narrowest.map { Int(clamping: max(1 << 10, $0 / 10)) } ?? .max }

    /// Counts bytes that have been moved.
    ///
    /// - Returns: how long to wait before the next bytes.
    func take(_ count: Int, at now: Duration) -> Duration {
        let own = bucket.withLock { $0.take(count, at: now) }
        return max(own, whole?.take(count, at: now) ?? .zero)
    }
}

/// The bytes that may be moved at a time: a tenth of a second's worth at once, and then as many as the rate allows.
struct ByteBucket: Sendable {
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
            let chunks = LimitedChunks(bandwidth, clock, into: observer)
            self.subscribe(Observer(scope: chunks.scope, next: chunks.receive, end: chunks.end))
        }
    }
}

/// The running chunks of one limited stream: passes them on in slices, with a wait after each, in which the source is paused.
private final class LimitedChunks<Failure: Error>: @unchecked Sendable {
    // Unchecked: runs only inside the subscription's lane, which is serial. Debug builds check that.

    /// The longest wait after which the limit is looked at again.
    private static var step: Duration { .seconds(1) }

    let scope: Scope
    private let bandwidth: TransferBandwidth
    private let clock: any Scheduler
    private let observer: Observer<[UInt8], Failure>
    private let timer: OperatorTimer
    /// The bytes that have arrived, and have not been passed on.
    private var waiting: ArraySlice<UInt8> = []
    private var completion: Completion<Failure>?
    private var isPassing = false

    init(
        _ bandwidth: TransferBandwidth, _ clock: any Scheduler, into observer: Observer<[UInt8], Failure>
    ) {
        self.bandwidth = bandwidth
        self.clock = clock
        self.observer = observer
        scope = observer.scope.child()
        timer = OperatorTimer(clock, in: scope)
        scope.onResume { self.proceed() }
    }

    @Sendable
    func receive(_ chunk: [UInt8]) {
        scope.lane.assertInside()
        guard waiting.isEmpty, !isPassing, !scope.isPaused, chunk.count <= bandwidth.slice else {
            waiting += chunk
            return proceed()
        }
        isPassing = true
        pass(chunk)
        isPassing = false
        proceed()
    }

    @Sendable
    func end(_ completion: Completion<Failure>) {
        scope.lane.assertInside()
        self.completion = completion
        endIfAllIsPassedOn()
    }

    private func proceed() {
        guard !isPassing else { return }
        isPassing = true
        while !waiting.isEmpty, scope.isOpen, !scope.isPaused {
            let slice = Array(waiting.prefix(min(waiting.count, bandwidth.slice)))
            waiting = waiting.dropFirst(slice.count)
            pass(slice)
        }
        isPassing = false
        endIfAllIsPassedOn()
    }

    /// Passes bytes on, and pauses for the time that they take.
    private func pass(_ slice: [UInt8]) {
        observer.next(slice)
        // The observer may have ended the stream.
        guard scope.isOpen else { return }
        let wait = bandwidth.take(slice.count, at: clock.now)
        guard wait > .zero else { return }
        scope.pause()
        resume(after: wait)
    }

    /// Ends the pause after a time, or earlier or later if the limit changes meanwhile.
    private func resume(after wait: Duration) {
        guard wait > .zero else { return scope.resume() }
        let (step, limit) = (min(wait, Self.step), bandwidth.narrowest)
        timer.set(after: step) {
            let isSame = self.bandwidth.narrowest == limit
            self.resume(after: isSame ? wait - step : self.bandwidth.take(0, at: self.clock.now))
        }
    }

    private func endIfAllIsPassedOn() {
        guard let completion, waiting.isEmpty, !isPassing, scope.isOpen else { return }
        scope.close()
        observer.end(completion)
    }
}
