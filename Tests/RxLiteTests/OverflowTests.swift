import RxLite
import Testing

/// The fate of values that do not fit into a buffer.
@Suite struct OverflowTests {
    @Test(
        arguments: [
            (BufferPolicy<Never>.unbounded, 0), (.latest(3), 7), (.latest(0), 10), (.latest(10), 0),
            (.oldest(3), 7),
            (.oldest(0), 10), (.suspend(high: 2, low: 1), 0),
        ] as [(BufferPolicy<Never>, Int)])
    func droppedValuesAreCounted(_ policy: BufferPolicy<Never>, _ dropped: Int) async {
        let iterator = Observable<Int, Never>.sequence(1...10).values(buffering: policy).makeAsyncIterator()
        while await iterator.next() != nil {}
        #expect(iterator.droppedCount == dropped)
    }

    @Test func theCountGoesOnWhileValuesAreTaken() async {
        let signal = Signal<Int>()
        let iterator = signal.observable.values(buffering: .latest(2)).makeAsyncIterator()
        for number in 0..<5 { signal.send(number) }
        #expect(iterator.droppedCount == 3)
        #expect(await iterator.next() == 3)
        for number in 5..<7 { signal.send(number) }
        #expect(iterator.droppedCount == 4)
        #expect(await iterator.next() == 5)
    }

    @Test func theCountStaysAfterACancel() async {
        let task = Task {
            let iterator = Observable<Int, Never>.sequence(1...5).values(buffering: .oldest(2))
                .makeAsyncIterator()
            while !Task.isCancelled { await Task.yield() }
            #expect(await iterator.next() == nil)
            return iterator.droppedCount
        }
        task.cancel()
        #expect(await task.value == 3)
    }

    @Test(arguments: [-1, 0, 1, 3])
    func overflowFailsAfterTheValuesThatFit(_ limit: Int) async throws {
        let isCancelled = Shared(false)
        let signal = Signal<Int>()
        let stream = signal.observable.setFailureType(to: Lost.self).handleEvents(onCancel: {
            isCancelled.change { $0 = true }
        })
        let iterator = stream.values(buffering: .fail(above: limit, with: Lost())).makeAsyncIterator()
        for number in 0..<max(limit, 0) { signal.send(number) }
        #expect(!isCancelled.value)
        signal.send(9)
        #expect(isCancelled.value)
        signal.send(10)
        for number in 0..<max(limit, 0) { #expect(try await iterator.next() == number) }
        await #expect(throws: Lost()) { try await iterator.next() }
        #expect(try await iterator.next() == nil)
        #expect(iterator.droppedCount == 1)
    }

    @Test func withRoomNothingFails() async throws {
        let stream = Observable<Int, Lost>.sequence(0..<5)
        var values: [Int] = []
        for try await value in stream.values(buffering: .fail(above: 5, with: Lost())) {
            values.append(value)
        }
        #expect(values == [0, 1, 2, 3, 4])
    }

    @Test func anEndlessSourceStopsWhenItOverflows() async {
        let iterator = Observable<Int, Lost>.sequence(0...).values(buffering: .fail(above: 3, with: Lost()))
            .makeAsyncIterator()
        var values: [Int] = []
        await #expect(throws: Lost()) { while let value = try await iterator.next() { values.append(value) } }
        #expect(values == [0, 1, 2])
    }
}
