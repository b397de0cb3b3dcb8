public import RxLite
import Synchronization

/// Streams that run some at a time, added whenever there are more.
///
/// ```swift
/// let uploads = RequestQueue(limit: 2)
/// uploads.allComplete.subscribe { hideTheBar() }
/// for photo in photos {
///     client.request(Upload(photo)).queued(in: uploads).subscribe(onNext: { … })
/// }
/// ```
///
/// Subscribing to a stream of `queued(in:)` adds it: the stream waits until it is its turn, first come, first served. A
/// cancel takes it out. For the queue it ends when its subscriber has received the end. Safe from any thread, for
/// streams of any client and any scheduler.
public final class RequestQueue: Sendable {
    /// How many run at the same time at most.
    public let limit: Int
    /// How many wait or run: what an indicator follows.
    public var count: Property<Int> { Property(shownCount) }
    private let shownCount = State(0)

    private struct Contents {
        var runningCount = 0
        /// What begins those that wait, by ticket.
        var waiting: [UInt64: @Sendable () -> Void] = [:]
        var firstTicket: UInt64 = 0
        var nextTicket: UInt64 = 0
        /// Whether somebody is beginning what waits.
        var isStarting = false
    }

    private let contents = Mutex(Contents())

    /// Creates an empty queue.
    ///
    /// - Parameter limit: how many run at the same time; one if it is less. Default all.
    public init(limit: Int = .max) { self.limit = max(1, limit) }

    /// One value each time when everything that has been added so far has ended. Never ends.
    public var allComplete: Observable<Void, Never> {
        count.observable.pairwise().filter { before, now in before > 0 && now == 0 }.map { _ in }
    }

    /// - Returns: a ticket for ``leave(_:)``.
    fileprivate func join(_ start: @escaping @Sendable () -> Void) -> UInt64 {
        let ticket = contents.withLock { contents in
            defer { contents.nextTicket += 1 }
            contents.waiting[contents.nextTicket] = start
            return contents.nextTicket
        }
        showCount()
        return ticket
    }

    fileprivate func leave(_ ticket: UInt64) {
        contents.withLock { contents in
            if contents.waiting.removeValue(forKey: ticket) == nil { contents.runningCount -= 1 }
        }
        showCount()
        startWaiting()
    }

    /// Begins what has its turn, in a loop: what ends at once leads back here, and is seen by the next round.
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
        contents.isStarting = false
        return nil
    }

    /// Read again at each step, so that the last of several threads shows what is true.
    private func showCount() {
        shownCount.update { shown in shown = contents.withLock { $0.runningCount + $0.waiting.count } }
    }
}

extension Observable {
    /// The same stream, which begins when `queue` has a place for it and keeps that until its end or its cancel.
    public func queued(in queue: RequestQueue) -> Observable {
        Observable(scheduler: scheduler) { observer in
            let scope = observer.scope
            guard scope.isOpen else { return }
            let ticket = queue.join { scope.enter { self.subscribe(observer) } }
            scope.onClose { queue.leave(ticket) }
            queue.startWaiting()
        }
    }
}
