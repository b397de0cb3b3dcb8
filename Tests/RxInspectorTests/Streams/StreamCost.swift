#if Inspector
import Foundation
@testable import RxInspector
import RxNetworking
import Testing

#if canImport(Glibc)
import Glibc
#endif

extension StreamTests {
    /// Measures what a page costs a program with 10,000 events a second; only with `RX_MEASURE`, since it takes the machine.
    @Suite(.serialized, .enabled(if: ProcessInfo.processInfo.environment["RX_MEASURE"] != nil))
    struct StreamCost {
        private struct Payload: Sendable {
            var id: Int
            var name = "Oolong"
            var price = 12.5
        }

        /// The processor time of the process, in seconds.
        private static var processorTime: Double {
            var usage = rusage()
            unsafe getrusage(__rusage_who_t(RUSAGE_SELF.rawValue), &usage)
            func seconds(_ time: timeval) -> Double { Double(time.tv_sec) + Double(time.tv_usec) / 1e6 }
            return seconds(usage.ru_utime) + seconds(usage.ru_stime)
        }

        /// The processor time of five seconds with 10,000 values a second through five streams, in percent of the time.
        private static func load() async throws -> Double {
            let bag = SubscriptionBag()
            let signals = (0..<5).map { number in
                let signal = Signal<Payload>()
                signal.observable.inspected("load \(number)").map { $0.id }.filter { $0 >= 0 }.subscribe()
                    .store(in: bag)
                return signal
            }
            try await Task.sleep(for: .milliseconds(300))
            let (before, start) = (processorTime, ContinuousClock.now)
            for slice in 0..<500 {
                for number in 0..<20 {
                    for signal in signals { signal.send(Payload(id: slice * 20 + number)) }
                }
                try await Task.sleep(until: start + .milliseconds(10) * (slice + 1))
            }
            let used = processorTime - before
            bag.cancel()
            return used / ((ContinuousClock.now - start) / .seconds(1)) * 100
        }

        @Test func tenThousandValuesASecond() async throws {
            _ = try await Self.load()
            let without = try await Self.load()
            let inspector = try await Inspector.start()
            let attached = try await Self.load()
            let browser = try await Browser.start()
            try await browser.open(inspector.pageURL)
            try await browser.wait(for: "document.querySelector('#state').dataset.is === 'live'")
            let watched = try await Self.load()
            let state = try await browser.run("document.querySelector('#sampling').textContent").string ?? ""
            browser.stop()
            await inspector.stop()
            print(
                "processor time in percent: \(without) without, \(attached) attached, \(watched) with a page: \(state)"
            )
        }

        /// The processor time of a program that computes between its values, about as long as 10,000 a second allow.
        @Test func aBusyProgram() async throws {
            func run() -> Double {
                let signal = Signal<Payload>()
                let subscription = signal.observable.inspected("busy").map { $0.id }.subscribe()
                defer { subscription.cancel() }
                var sum = 0
                let (before, start) = (StreamCost.processorTime, ContinuousClock.now)
                for id in 0..<30_000 {
                    for step in 0..<1500 { sum = (sum &* 31 &+ step) & 0xFFFF }
                    signal.send(Payload(id: id + (sum & 1)))
                }
                print("  \(Int(30_000 / ((ContinuousClock.now - start) / .seconds(1)))) values a second")
                return StreamCost.processorTime - before
            }
            _ = run()
            var results: [String: [Double]] = [:]
            for _ in 0..<3 {
                results["without", default: []].append(run())
                let inspector = try await Inspector.start()
                results["attached", default: []].append(run())
                let browser = try await Browser.start()
                try await browser.open(inspector.pageURL)
                try await browser.wait(for: "document.querySelector('#state').dataset.is === 'live'")
                results["with a page", default: []].append(run())
                browser.stop()
                await inspector.stop()
            }
            for (name, times) in results.sorted(by: { $0.key < $1.key }) {
                print("30,000 values between computations, \(name): \(times.min() ?? 0) s, of \(times)")
            }
        }
    }
}
#endif
