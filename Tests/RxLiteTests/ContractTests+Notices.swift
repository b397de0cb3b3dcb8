import RxLite
import RxTesting

extension ContractTests {
    /// Operators that are controlled by another stream.
    static let noticed = [
        Operator("repeat when, twice") { source, _ in source.repeat(when: { $0.take(2) }) },
        Operator("repeat when, delayed") { source, clock in
            source.repeat(when: { $0.delay(.milliseconds(700), on: clock).take(3) })
        },
        Operator("repeat when never") { source, _ in
            source.repeat(when: { _ in Observable<Int, Never>.never() })
        },
        Operator("repeat when just") { source, _ in
            source.repeat(when: { _ in Observable<Int, Never>.just(1) })
        },
        Operator("repeat when empty") { source, _ in
            source.repeat(when: { _ in Observable<Int, Never>.empty() })
        },
        Operator("repeat when, take 9") { source, _ in
            source.map(\.number).startWith(9).repeat(when: { $0 }).take(9)
        },
        Operator("buffer by never", isDeferred: true) { source, _ in
            source.buffer(by: Observable<Int, Never>.never())
        },
        Operator("buffer by just", isDeferred: true) { source, _ in
            source.buffer(by: Observable<Int, Never>.just(1))
        },
        Operator("buffer by timer", isDeferred: true) { source, clock in
            source.buffer(by: .timer(.seconds(2), on: clock))
        },
        Operator("buffer by interval, take 3", isDeferred: true) { source, clock in
            source.buffer(by: Observable<Int, Never>.interval(.milliseconds(1500), on: clock)).take(3)
        },
        Operator("share when just") { source, _ in
            source.share(replay: 1, when: { _ in Observable<Int, Never>.just(1) })
        },
        Operator("share when never after the end") { source, _ in
            source.share(
                replay: 1,
                when: { end in end == nil ? Observable<Int, Never>.just(1) : .never() })
        },
        Operator("share when timer after the end") { source, clock in
            source.share(
                replay: 1,
                when: { end in
                    end == nil ? Observable<Void, Never>.just(()) : .timer(.milliseconds(700), on: clock)
                })
        },
    ]
}
