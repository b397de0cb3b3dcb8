import Foundation
import Synchronization

/// Counts the requests and bytes of a run, and measures its time.
package final class Measurement: Sendable {
    private let bytes = Atomic<Int>(0)
    private let requests = Atomic<Int>(0)
    private let begin = ContinuousClock.now
    private let usage = Usage()

    /// Starts the clock.
    package init() {}

    /// Counts a request that succeeded and transferred `count` bytes of body.
    package func add(bytes count: Int) {
        bytes.add(count, ordering: .relaxed)
        requests.add(1, ordering: .relaxed)
    }

    /// Prints the result as one line of JSON.
    package func report() {
        let seconds = (ContinuousClock.now - begin) / .seconds(1)
        let now = Usage()
        print(
            """
            {"requests":\(requests.load(ordering: .relaxed)),"bytes":\(bytes.load(ordering: .relaxed)),\
            "seconds":\(seconds),"cpu_seconds":\(now.cpuSeconds - usage.cpuSeconds),\
            "peak_kib":\(now.peakKibibytes)}
            """)
    }
}
