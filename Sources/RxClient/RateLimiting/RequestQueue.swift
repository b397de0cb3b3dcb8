public import RxLite
import Synchronization

/// Runs streams with limited concurrency; streams can be added at any time.
///
/// ```swift
/// let uploads = RequestQueue(limit: 2)
/// for photo in photos {
///     client.request(Upload(photo)).queued(in: uploads).subscribe(onFailure: { show($0.message) })
/// }
/// uploads.allComplete.subscribe { submit() }
/// ```
///
/// A subscription to a stream of `queued(in:)` adds it to the queue: the stream waits for its turn, first
/// come, first served. Cancelling removes it. For the queue, a stream ends when its subscriber has received
/// the end. Safe from any thread, for streams of any client and any scheduler.
public final class RequestQueue: Sendable {
    /// The maximum number of streams that run at the same time.
    public let limit: Int
    /// The waiting and running streams, for an indicator.
    public let activity = Activity()

    private struct Contents {
        var runningCount = 0
        /// The closures that start waiting streams, by ticket.
        var waiting: [UInt64: @Sendable () -> Void] = [:]
        var firstTicket: UInt64 = 0
        var nextTicket: UInt64 = 0
        /// Whether a thread is starting waiting streams.
        var isStarting = false
    }

    private let contents = Mutex(Contents())

    /// Creates an empty queue.
    ///
    /// - Parameter limit: the maximum number of streams that run at the same time; values below one count as
    ///   one. Default: no limit.
    public init(limit: Int = .max) { self.limit = max(1, limit) }

    /// One value once no stream waits or runs, then completion: at once if the queue is idle. Each subscription checks
    /// again, and also waits for streams that are added in the meantime. For an indicator use ``activity``.
    public var allComplete: Observable<Void, Never> {
        activity.count.observable.filter { $0 == 0 }.map { _ in }.take(1)
    }

    /// - Returns: a ticket for ``leave(_:)``.
    fileprivate func join(_ start: @escaping @Sendable () -> Void) -> UInt64 {
        let ticket = contents.withLock { contents in
            defer { contents.nextTicket += 1 }
            contents.waiting[contents.nextTicket] = start
            return contents.nextTicket
        }
        activity.begin(self)
        return ticket
    }

    fileprivate func leave(_ ticket: UInt64) {
        contents.withLock { contents in
            if contents.waiting.removeValue(forKey: ticket) == nil { contents.runningCount -= 1 }
        }
        activity.end(self)
        startWaiting()
    }

    /// Starts the streams whose turn it is, in a loop: a stream that ends at once calls this again, and the
    /// next iteration handles it.
    fileprivate func startWaiting() {
        let isFirst = contents.withLock { contents in
            defer { contents.isStarting = true }
            return !contents.isStarting
        }
        guard isFirst else { return }
        while let start = contents.withLock({ takeNext(&$0) }) { start() }
    }

    private func takeNext(_ contents: inout sending Contents) -> (@Sendable () -> Void)? {
        while contents.runningCount < limit, contents.firstTicket < contents.nextTicket {
            contents.firstTicket += 1
            if let start = contents.waiting.removeValue(forKey: contents.firstTicket - 1) {
                contents.runningCount += 1
                return start
            }
        }
        // Under the lock that found nothing to start, so that whoever changes that later starts it.
        contents.isStarting = false
        return nil
    }
}

extension Observable {
    /// Starts this stream when `queue` has a slot for it; the stream holds the slot until it ends or is cancelled. A
    /// call belongs to the account of its session at the time of the subscription; if that account has been logged out
    /// when its turn comes, it fails with `loginExpired`.
    public func queued(in queue: RequestQueue) -> Observable {
        Observable(scheduler: scheduler) { observer in
            let scope = observer.scope
            guard scope.isOpen else { return }
            let stream = started(since: AccountMoment.beginning(in: scope.lane))
            let ticket = queue.join { scope.enter { stream.subscribe(observer) } }
            scope.onClose { queue.leave(ticket) }
            queue.startWaiting()
        }
    }
}
