import RxLite
import RxTesting
import Testing

/// The number of values that may wait for another scheduler, and the policy beyond it.
@Suite struct ObserveOnBufferTests {
    private let clock = VirtualScheduler()
    private let log = Log<Int>()

    struct Line: Sendable, CustomTestStringConvertible {
        let policy: BufferPolicy<Lost>
        let values: [Int]
        let dropped: Int
        var fails = false
        /// The number of values of ten that are taken before the first is delivered.
        var taken = 10
        var testDescription: String { "\(policy)" }
    }

    static let lines = [
        Line(policy: .unbounded, values: Array(1...10), dropped: 0),
        Line(policy: .latest(3), values: [8, 9, 10], dropped: 7),
        Line(policy: .latest(0), values: [], dropped: 10),
        Line(policy: .oldest(3), values: [1, 2, 3], dropped: 7),
        Line(policy: .suspend(high: 4, low: 1), values: Array(1...10), dropped: 0, taken: 4),
        Line(policy: .fail(above: 3, with: Lost()), values: [1, 2, 3], dropped: 1, fails: true, taken: 4),
    ]

    @Test(arguments: lines) func everyPolicy(_ line: Line) throws {
        let taken = Shared(0)
        let dropped = MutableProperty(0)
        let ends = Log<Completion<Lost>>()
        Observable<Int, Lost>.sequence(1...10).handleEvents(onNext: { _ in taken.change { $0 += 1 } })
            .observe(on: clock, buffering: line.policy, countingDropped: dropped)
            .subscribe(onNext: { [log] in log.add($0) }, onEnd: { ends.add($0) })
        #expect(taken.value == line.taken)
        try clock.run()
        #expect(log.entries == line.values)
        #expect(ends.entries == [line.fails ? .failed(Lost()) : .finished])
        #expect(dropped.value == line.dropped)
    }

    /// Values on the way to a subscriber that pauses return to the buffer, and the policy applies to them.
    @Test(
        arguments: [
            (BufferPolicy<Lost>.latest(3), [1, 8, 9, 10], 6), (.oldest(3), [1, 2, 3, 4], 6),
            (.unbounded, Array(1...10), 0),
        ] as [(BufferPolicy<Lost>, [Int], Int)])
    func valuesThatAPausedSubscriberDidNotTake(
        _ policy: BufferPolicy<Lost>, _ expected: [Int], _ count: Int
    ) throws {
        let numbers = Signal<Int>()
        let dropped = MutableProperty(0)
        let held = Shared<Subscription?>(nil)
        let new = numbers.observable.setFailureType(to: Lost.self)
            .observe(on: clock, buffering: policy, countingDropped: dropped)
            .subscribe { [log] number in
                log.add(number)
                guard number == 1 else { return }
                held.value?.pause()
                for number in 4...10 { numbers.send(number) }
            }
        held.change { $0 = new }
        for number in 1...3 { numbers.send(number) }
        try clock.run()
        #expect(log.entries == [1])
        new.resume()
        try clock.run()
        #expect(log.entries == expected)
        #expect(dropped.value == count)
    }
}
