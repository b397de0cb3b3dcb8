import RxLite
import Synchronization

extension RetryBudget {
    /// The budget of one host: earned by its requests, spent by its retries. Safe from any thread.
    final class Account: Sendable {
        private struct Contents {
            /// The counts of requests and of retries.
            var counts: SlidingCounts
            /// Retries that were allowed and whose requests have not been counted; a retry earns no budget.
            var expected = 0
        }

        /// The number of requests that are counted together, because reading the clock costs more than
        /// counting.
        private static let batch = 16

        private let ratio: Double
        private let least: Double
        private let clock: any Scheduler
        private let uncounted = Atomic<Int>(0)
        private let contents: Mutex<Contents>

        init(ratio: Double, floor: Double, window: Duration, on clock: any Scheduler) {
            self.ratio = ratio
            self.clock = clock
            least = floor * (window / .seconds(1))
            contents = Mutex(Contents(counts: SlidingCounts(window: window)))
        }

        /// Counts a request that is sent to the host.
        func noteRequest() {
            if uncounted.add(1, ordering: .relaxed).newValue >= Self.batch { count(at: clock.now) }
        }

        /// Spends one retry, if the budget allows it.
        func withdraw() -> Bool { take() != nil }

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
                let allowed = max(ratio * Double(contents.counts.first), least)
                guard Double(contents.counts.second + 1) <= allowed else { return nil }
                contents.expected += 1
                return contents.counts.add(second: 1, at: now)
            }
        }

        private func giveBack(from slot: UInt64) {
            let now = clock.now
            count(at: now)
            contents.withLock { contents in
                contents.counts.remove(second: 1, from: slot, at: now)
                // Its request is not sent. If another request was taken for it, that one counts now.
                if contents.expected > 0 {
                    contents.expected -= 1
                } else {
                    contents.counts.add(first: 1, at: now)
                }
            }
        }

        /// Whether the window has no counts.
        var isEmpty: Bool {
            let now = clock.now
            count(at: now)
            return contents.withLock { contents in
                contents.counts.slide(to: now)
                return contents.counts.first == 0 && contents.counts.second == 0
            }
        }

        private func count(at now: Duration) {
            let count = uncounted.exchange(0, ordering: .relaxed)
            guard count > 0 else { return }
            contents.withLock { contents in
                let repeated = min(count, contents.expected)
                contents.expected -= repeated
                contents.counts.add(first: count - repeated, at: now)
            }
        }
    }
}
