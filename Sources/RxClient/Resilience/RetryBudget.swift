public import RxHTTP
public import RxLite
import Synchronization

/// Limits the load of retries and hedges on a failing host: only a share of the requests to one host in the
/// last ten seconds may be repetitions. When the budget is spent, the first error is final.
///
/// ```swift
/// configuration.retryBudget = RetryBudget(ratio: 0.1)
/// ```
///
/// Each client has a budget by default. Several clients can share one; each host has a separate account. Safe
/// from any thread.
public final class RetryBudget: Sendable {
    private let ratio: Double
    private let window: Duration
    private let floor: Double
    private let clock: (any Scheduler)?
    private let accounts = Mutex(HostTable<Origin, Account>())

    /// Creates a budget.
    ///
    /// - Parameters:
    ///   - ratio: the number of retries allowed per request. Default 0.2.
    ///   - floor: the number of retries per second that are always allowed, summed over the whole window.
    ///     Default 10, which is 100 in ten seconds.
    ///   - window: the length of the window, which slides in tenths. Default 10 s.
    ///   - clock: the clock of the budget. Default: the clock of the first client that sends a request to a
    ///     host, otherwise the library's shared clock.
    public init(
        ratio: Double = 0.2, floor: Double = 10, window: Duration = .seconds(10),
        clock: (any Scheduler)? = nil
    ) {
        self.ratio = ratio
        self.floor = floor
        self.window = window
        self.clock = clock
    }

    /// Counts a request that is sent to a host, which earns budget for its retries. A client counts every request,
    /// including those of ``Client/response(_:from:)``. Up to 15 requests are counted a little later, with the next
    /// ones.
    public func recordRequest(to origin: Origin) { account(of: origin).recordRequest() }

    /// Spends one retry to a host, if its budget allows it.
    public func spend(for origin: Origin) -> Bool { account(of: origin).spend() }

    /// The account of a host.
    func account(of origin: Origin, on clock: (any Scheduler)? = nil) -> Account {
        accounts.withLock { accounts in
            if let account = accounts[origin] { return account }
            accounts.makeRoom { $0.isEmpty }
            let account = Account(
                ratio: ratio, floor: floor, window: window,
                on: self.clock ?? clock ?? ActorScheduler.shared)
            accounts[origin] = account
            return account
        }
    }
}

extension RetryBudget {
    /// The budget of one host: earned by its requests, spent by its retries. Safe from any thread.
    final class Account: Sendable {
        private struct Contents {
            /// The counts of requests and of retries.
            var counts: SlidingCounts
            /// Retries that were allowed and whose requests have not been counted; a retry earns no budget.
            var expected = 0
        }

        /// The number of requests that are counted together, because reading the clock costs more than counting. The
        /// documentation of ``RetryBudget/recordRequest(to:)`` and `Resilience.md` say that up to 15 wait.
        private static let batch = 16

        private let ratio: Double
        /// The number of retries in a window that are always allowed.
        private let least: Double
        private let clock: any Scheduler
        /// The requests that are not in ``contents`` yet: `count(at:)` adds them, before anything reads the
        /// counts.
        private let uncounted = Atomic<Int>(0)
        private let contents: Mutex<Contents>

        init(ratio: Double, floor: Double, window: Duration, on clock: any Scheduler) {
            self.ratio = ratio
            self.clock = clock
            least = floor * (window / .seconds(1))
            contents = Mutex(Contents(counts: SlidingCounts(window: window)))
        }

        /// Counts a request that is sent to the host.
        func recordRequest() {
            if uncounted.add(1, ordering: .relaxed).newValue >= Self.batch { count(at: clock.now) }
        }

        /// Spends one retry, if the budget allows it.
        func spend() -> Bool { take() != nil }

        /// Spends one retry, which can be given back.
        func credit() -> RetryCredit? {
            take().map { slot in RetryCredit(of: ObjectIdentifier(self)) { self.giveBack(from: slot) } }
        }

        /// - Returns: the slot of the window that counts the retry; `nil` if the budget refuses it.
        private func take() -> UInt64? {
            let now = clock.now
            count(at: now)
            return contents.withLock { contents in
                contents.counts.slide(to: now)
                let allowed = max(ratio * Double(contents.counts.requests), least)
                guard Double(contents.counts.events + 1) <= allowed else { return nil }
                contents.expected += 1
                return contents.counts.add(events: 1, at: now)
            }
        }

        private func giveBack(from slot: UInt64) {
            let now = clock.now
            count(at: now)
            contents.withLock { contents in
                contents.counts.remove(events: 1, from: slot, at: now)
                // Its request is not sent. If another request was taken for it, that one counts now.
                if contents.expected > 0 {
                    contents.expected -= 1
                } else {
                    contents.counts.add(requests: 1, at: now)
                }
            }
        }

        /// Whether the window has no counts.
        var isEmpty: Bool {
            let now = clock.now
            count(at: now)
            return contents.withLock { contents in
                contents.counts.slide(to: now)
                return contents.counts.requests == 0 && contents.counts.events == 0
            }
        }

        private func count(at now: Duration) {
            let count = uncounted.exchange(0, ordering: .relaxed)
            guard count > 0 else { return }
            contents.withLock { contents in
                let repeated = min(count, contents.expected)
                contents.expected -= repeated
                contents.counts.add(requests: count - repeated, at: now)
            }
        }
    }
}
