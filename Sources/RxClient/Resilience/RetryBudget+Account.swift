import RxLite
import Synchronization

extension RetryBudget {
    /// The budget of one host: the allowance by its requests, and the use by its retries. Safe from any thread.
    public final class Account: Sendable {
        private struct Contents {
            /// Requests, and retries.
            var counts: SlidingCounts
            /// Retries that were allowed and whose request has not been counted, since it is no first one.
            var expected = 0
        }

        /// So many requests are counted together, since reading the clock costs more than counting.
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

        /// Counts a request that is sent to the host: a client does so for each, also for those of
        /// ``Client/response(_:from:)``. Up to 15 are counted a little later, with the next ones.
        public func noteRequest() {
            if uncounted.add(1, ordering: .relaxed).newValue >= Self.batch { count(at: clock.now) }
        }

        /// Takes one retry, if there is one left.
        public func withdraw() -> Bool {
            let now = clock.now
            count(at: now)
            return contents.withLock { contents in
                contents.counts.slide(to: now)
                let allowed = max(ratio * Double(contents.counts.first), least)
                guard Double(contents.counts.second + 1) <= allowed else { return false }
                contents.counts.add(second: 1, at: now)
                contents.expected += 1
                return true
            }
        }

        /// Whether nothing of the last while is known.
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
