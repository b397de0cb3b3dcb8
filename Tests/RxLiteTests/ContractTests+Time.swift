import RxLite
import RxTesting

extension ContractTests {
    /// Operators with time, and lists.
    static let waiting = [
        Operator("interval until") { source, clock in
            source.map(\.number).merge(with: .interval(.milliseconds(900), on: clock)).take(20)
        },
        Operator("debounce", isDeferred: true) { source, clock in
            source.debounce(.milliseconds(700), on: clock)
        },
        Operator("debounce longer than the source", isDeferred: true) { source, clock in
            source.debounce(.seconds(2), on: clock)
        },
        Operator("debounce by nothing", isDeferred: true) { source, clock in
            source.debounce(.zero, on: clock)
        },
        Operator("throttle", isDeferred: true) { source, clock in
            source.throttle(.milliseconds(1500), on: clock)
        },
        Operator("throttle, trailing too", isDeferred: true) { source, clock in
            source.throttle(.milliseconds(1500), on: clock, trailing: true)
        },
        Operator("throttle, trailing only", isDeferred: true) { source, clock in
            source.throttle(.milliseconds(1500), on: clock, leading: false, trailing: true)
        },
        Operator("sample(every:)", isDeferred: true) { source, clock in
            source.sample(every: .milliseconds(1500), on: clock)
        },
        Operator("buffer(count: 2)") { source, _ in source.buffer(count: 2) },
        Operator("buffer(count: 3, every: 1)") { source, _ in source.buffer(count: 3, every: 1) },
        Operator("buffer(count: 1, every: 3)") { source, _ in source.buffer(count: 1, every: 3) },
        Operator("buffer(time:), take 3", isDeferred: true) { source, clock in
            source.buffer(time: .milliseconds(1500), on: clock).take(3)
        },
        Operator("buffer(count: 2, time:), take 3") { source, clock in
            source.buffer(count: 2, time: .milliseconds(1500), on: clock).take(3)
        },
    ]
}
