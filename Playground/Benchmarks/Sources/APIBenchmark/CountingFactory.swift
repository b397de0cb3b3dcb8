import CoreMetrics
import Synchronization

/// A backend that does what each has to do at least: one atomic addition for each value.
struct CountingFactory: MetricsFactory {
    private final class Handler: CounterHandler, MeterHandler, RecorderHandler, TimerHandler {
        private let sum = Atomic<Int64>(0)

        private func add(_ value: Int64) { sum.wrappingAdd(value, ordering: .relaxed) }

        func increment(by amount: Int64) { add(amount) }
        func increment(by amount: Double) { add(Int64(amount)) }
        func decrement(by amount: Double) { add(-Int64(amount)) }
        func set(_ value: Int64) { sum.store(value, ordering: .relaxed) }
        func set(_ value: Double) { sum.store(Int64(value), ordering: .relaxed) }
        func record(_ value: Int64) { add(value) }
        func record(_ value: Double) { add(Int64(value)) }
        func recordNanoseconds(_ duration: Int64) { add(duration) }
        func reset() { sum.store(0, ordering: .relaxed) }
    }

    func makeCounter(label: String, dimensions: [(String, String)]) -> any CounterHandler { Handler() }
    func makeMeter(label: String, dimensions: [(String, String)]) -> any MeterHandler { Handler() }
    func makeTimer(label: String, dimensions: [(String, String)]) -> any TimerHandler { Handler() }
    func makeRecorder(
        label: String, dimensions: [(String, String)], aggregate: Bool
    ) -> any RecorderHandler { Handler() }

    func destroyCounter(_ handler: any CounterHandler) {}
    func destroyMeter(_ handler: any MeterHandler) {}
    func destroyRecorder(_ handler: any RecorderHandler) {}
    func destroyTimer(_ handler: any TimerHandler) {}
}
