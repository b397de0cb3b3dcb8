import RxLite
import RxTesting
import Testing

/// A loop whose task is cancelled must not look like one that has seen every value.
@Suite(.timeLimit(.minutes(1))) struct CancelledLoopTests {
    private struct Broken: CancellationReporting, Equatable {
        var isCancellation = false
        static var taskCancelled: Broken { Broken(isCancellation: true) }
    }

    /// When the task of the loop is cancelled.
    enum Moment: CaseIterable, Sendable {
        /// Before it begins.
        case before
        /// While the loop waits for a value.
        case waiting
        /// While values wait for the loop.
        case values
        /// While values and the end of the stream wait for the loop.
        case valuesAndEnd
    }

    /// The values that a loop gets, and the error it throws, if its task is cancelled at `moment`.
    private func loop<Failure: Error>(
        _ failure: Failure.Type, cancelledAt moment: Moment, _ policy: BufferPolicy<Failure>?
    ) async -> (values: [Int], error: (any Error)?) {
        let source = Signal<Int>(), end = Signal<Void>()
        let stream = source.observable.take(until: end.observable).setFailureType(to: Failure.self)
        let isWaiting = Shared(false), values = Shared<[Int]>([])
        let iterator = Shared<(any Error)?>(nil)
        let task = Task {
            if moment == .before { while !Task.isCancelled { await Task.yield() } }
            do {
                let sequence = stream.handleEvents(onSubscribe: { isWaiting.change { $0 = true } })
                let body = { (value: Int) async in
                    values.change { $0.append(value) }
                    // The values that follow wait for the loop.
                    while moment != .waiting, !Task.isCancelled { await Task.yield() }
                }
                if let policy {
                    for try await value in sequence.values(buffering: policy) { await body(value) }
                } else {
                    for try await value in sequence { await body(value) }
                }
            } catch {
                iterator.change { $0 = error }
            }
        }
        if moment != .before {
            await until { isWaiting.value }
            source.send(1)
            await until { values.value == [1] }
        }
        if moment == .values || moment == .valuesAndEnd { for number in 2...5 { source.send(number) } }
        if moment == .valuesAndEnd { end.send() }
        task.cancel()
        await task.value
        return (values.value, iterator.value)
    }

    @Test(arguments: Moment.allCases, [false, true])
    func aLoopThrowsTheErrorForCancellations(_ moment: Moment, _ hasPolicy: Bool) async {
        let outcome = await loop(Broken.self, cancelledAt: moment, hasPolicy ? .unbounded : nil)
        #expect(outcome.error as? Broken == .taskCancelled)
        #expect(outcome.values == (moment == .before ? [] : [1]))
    }

    @Test(arguments: Moment.allCases) func aLoopOverAnyErrorThrowsSwiftsOwn(_ moment: Moment) async {
        let outcome = await loop((any Error).self, cancelledAt: moment, nil)
        #expect(outcome.error is CancellationError)
    }

    /// These have no error to throw; `Task.isCancelled` tells them apart.
    @Test(arguments: Moment.allCases) func aLoopThatCannotThrowEnds(_ moment: Moment) async {
        #expect(await loop(Never.self, cancelledAt: moment, nil).error == nil)
        #expect(await loop(Lost.self, cancelledAt: moment, nil).error == nil)
    }

    /// Nothing was lost, so the loop ends as the stream did.
    @Test func anEndThatFollowsTheLastTakenValueCounts() async throws {
        let hasFirst = Shared(false)
        let task = Task {
            let iterator = Observable<Int, Broken>.just(1).makeAsyncIterator()
            let first = try await iterator.next()
            hasFirst.change { $0 = true }
            while !Task.isCancelled { await Task.yield() }
            return [first, try await iterator.next()]
        }
        await until { hasFirst.value }
        task.cancel()
        #expect(try await task.value == [1, nil])
    }

    @Test func theErrorIsThrownOnce() async {
        let task = Task {
            while !Task.isCancelled { await Task.yield() }
            let iterator = Observable<Int, Broken>.never().makeAsyncIterator()
            await #expect(throws: Broken.taskCancelled) { try await iterator.next() }
            let next = try? await iterator.next()
            #expect(next == .some(nil))
        }
        task.cancel()
        await task.value
    }

    @Test func everyOtherAwaitedFormThrows() async {
        let stream = Observable<Int, Broken>.concat([.sequence([1, 2]), .never()])
        let forms: [@Sendable () async throws -> Void] = [
            { _ = try await stream.skip(2).value() },
            { _ = try await stream.collect().value() },
            { _ = try await stream.last().value() },
            { _ = try await stream.reduce(0, +).value() },
            { _ = try await stream.first { $0 > 2 } },
            { _ = try await stream.contains(3) },
            { _ = try await stream.max() },
            { _ = try await stream.values(buffering: .latest(1)).first { $0 > 2 } },
        ]
        for (index, form) in forms.enumerated() {
            let task = Task { try await form() }
            for _ in 0..<20 { await Task.yield() }
            task.cancel()
            await #expect(throws: (any Error).self, "form \(index)") { try await task.value }
        }
    }
}
