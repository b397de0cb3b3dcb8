#if Metrics
import CoreMetrics
import MetricsTestKit

extension TestMetrics {
    /// The total of a counter.
    func total(of counter: String, _ attributes: [(String, String)] = []) throws -> Int64 {
        try expectCounter(counter, attributes).totalValue
    }

    /// The latest value of a meter; `nil` if it has none.
    func value(of meter: String, _ attributes: [(String, String)] = []) throws -> Double? {
        try expectMeter(meter, attributes).lastValue
    }
}
#endif
