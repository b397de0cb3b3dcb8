import RxLite
import RxTesting
import Testing

@Suite struct ValuesTests {
    @Test(
        arguments: [
            (BufferPolicy<Never>.unbounded, Array(1...10)), (.latest(3), [8, 9, 10]), (.latest(1), [10]),
            (.latest(0), []),
            (.oldest(3), [1, 2, 3]), (.oldest(0), []), (.suspend(high: 2, low: 1), Array(1...10)),
            (.suspend(high: 1, low: 0), Array(1...10)), (.suspend(high: 0, low: -5), Array(1...10)),
            (.suspend(high: 3, low: 9), Array(1...10)),
        ] as [(BufferPolicy<Never>, [Int])])
    func policies(_ policy: BufferPolicy<Never>, _ expected: [Int]) async {
        var values: [Int] = []
        for await value in Observable<Int, Never>.sequence(1...10).values(buffering: policy) {
            values.append(value)
        }
        #expect(values == expected)
    }

    @Test(
        arguments: [
            (BufferPolicy<Lost>.unbounded, [1, 2, 3]), (.latest(2), [2, 3]), (.oldest(1), [1]),
            (.suspend(high: 9, low: 0), [1, 2, 3]),
        ] as [(BufferPolicy<Lost>, [Int])])
    func theErrorComesAfterTheValues(_ policy: BufferPolicy<Lost>, _ expected: [Int]) async {
        let stream = Observable<Int, Lost>.concat([.sequence([1, 2, 3]), .fail(Lost())])
        var values: [Int] = []
        var isCaught = false
        do throws(Lost) {
            for try await value in stream.values(buffering: policy) { values.append(value) }
        } catch {
            isCaught = error == Lost()
        }
        #expect(values == expected)
        #expect(isCaught)
    }

    @Test func nothingComesAfterTheError() async throws {
        let iterator = Observable<Int, Lost>.fail(Lost()).values(buffering: .unbounded).makeAsyncIterator()
        await #expect(throws: Lost()) { try await iterator.next() }
        #expect(try await iterator.next() == nil)
    }

    @Test func anEndlessSynchronousSourceIsPausedWhileNobodyTakes() async throws {
        let taken = Shared(0)
        let stream = Observable<Int, Never>.sequence(0...).handleEvents(onNext: { _ in
            taken.change { $0 += 1 }
        })
        let iterator = stream.values(buffering: .suspend(high: 4, low: 1)).makeAsyncIterator()
        #expect(taken.value == 4)
        for expected in 0..<100 { #expect(await iterator.next() == expected) }
        #expect(taken.value <= 104)
    }

    @Test(arguments: [BufferPolicy<Never>.latest(1), .oldest(1), .unbounded])
    func anEndlessSourceElsewhereIsTakenFromWithAnyPolicy(_ policy: BufferPolicy<Never>) async {
        let stream = Observable<Int, Never>.sequence(0...).observe(on: ActorScheduler.shared)
        var last = -1
        var count = 0
        for await value in stream.values(buffering: policy) {
            #expect(value > last)
            last = value
            count += 1
            if count == 5 { break }
        }
        #expect(count == 5)
    }

    @Test func leavingTheLoopCancelsTheStream() async {
        let cancelled = Shared(0)
        let stream = Observable<Int, Never>.sequence(0...).handleEvents(onCancel: {
            cancelled.change { $0 += 1 }
        })
        for await value in stream.values(buffering: .suspend(high: 2, low: 1)) where value == 3 { break }
        #expect(cancelled.value == 1)
    }

    @Test func cancellingTheTaskCancelsTheStreamAndEndsTheLoop() async {
        let cancelled = Shared(0)
        let subscribed = Shared(false)
        let stream = Observable<Int, Never>.never().handleEvents(
            onSubscribe: { subscribed.change { $0 = true } }, onCancel: { cancelled.change { $0 += 1 } })
        let task = Task {
            var count = 0
            for await _ in stream.values(buffering: .unbounded) { count += 1 }
            return count
        }
        await until { subscribed.value }
        task.cancel()
        #expect(await task.value == 0)
        #expect(cancelled.value == 1)
    }

    @Test func valuesFromManyThreadsAllArrive() async {
        let signal = Signal<Int>()
        let end = Signal<Void>()
        let iterator = signal.observable.take(until: end.observable).values(buffering: .unbounded)
            .makeAsyncIterator()
        async let allSent: Void = Task.detached {
            await withTaskGroup(of: Void.self) { group in
                for sender in 0..<4 {
                    group.addTask { for number in 0..<500 { signal.send(sender * 500 + number) } }
                }
            }
            end.send()
        }.value
        var values: [Int] = []
        while let value = await iterator.next() { values.append(value) }
        await allSent
        #expect(values.sorted() == Array(0..<2000))
    }

    @Test func nothingOfAStreamStaysAfterItsIterator() async {
        let count = LiveCount()
        let signal = Signal<Counted>()
        for policy in [BufferPolicy<Never>.unbounded, .latest(1), .oldest(1), .suspend(high: 2, low: 1)] {
            let iterator = signal.observable.values(buffering: policy).makeAsyncIterator()
            for _ in 0..<5 { signal.send(Counted(count)) }
            _ = await iterator.next()
        }
        #expect(count.alive == 0)
    }
}
