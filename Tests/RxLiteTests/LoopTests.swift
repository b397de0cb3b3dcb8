import RxLite
import RxTesting
import Testing

/// Loops over a stream: backpressure applies, and leaving the loop cancels the stream.
@Suite(.timeLimit(.minutes(1))) struct LoopTests {
    @Test func theValuesAndThenTheEnd() async {
        var values: [Int] = []
        for await number in Observable<Int, Never>.sequence(1...1000) { values.append(number) }
        #expect(values == Array(1...1000))
    }

    @Test func theErrorHasItsType() async {
        var values: [Int] = []
        do {
            for try await number in Observable<Int, Lost>.concat([.just(1), .fail(Lost())]) {
                values.append(number)
            }
        } catch {
            let lost: Lost = error
            #expect(lost == Lost())
        }
        #expect(values == [1])
    }

    @Test func theSourceWaitsForTheLoop() async {
        let taken = Shared(0)
        let stream = Observable<Int, Never>.sequence(0...).handleEvents(onNext: { _ in
            taken.change { $0 += 1 }
        })
        let iterator = stream.makeAsyncIterator()
        #expect(taken.value == 64)
        for expected in 0..<47 { #expect(await iterator.next() == expected) }
        #expect(taken.value == 64)
        for expected in 47..<200 { #expect(await iterator.next() == expected) }
        #expect(taken.value <= 264)
    }

    @Test func leavingItCancelsTheStream() async {
        let isCancelled = Shared(false)
        let stream = Observable<Int, Never>.sequence(0...)
            .handleEvents(onCancel: { isCancelled.change { $0 = true } })
        for await number in stream where number == 3 { break }
        #expect(isCancelled.value)
    }

    @Test func cancellingItsTaskCancelsTheStream() async {
        let isRunning = Shared(false), isCancelled = Shared(false)
        let stream = Observable<Int, Never>.never().handleEvents(
            onSubscribe: { isRunning.change { $0 = true } }, onCancel: { isCancelled.change { $0 = true } })
        let task = Task {
            var count = 0
            for await _ in stream { count += 1 }
            return count
        }
        await until { isRunning.value }
        task.cancel()
        #expect(await task.value == 0)
        #expect(isCancelled.value)
    }

    @Test func theFunctionsOfSequencesAreThere() async {
        let numbers = Observable<Int, Never>.sequence(1...)
        #expect(await numbers.contains(7))
        #expect(await numbers.first { $0 > 4 } == 5)
        #expect(await numbers.take(3).allSatisfy { $0 < 4 })
        #expect(await Observable<Int, Never>.empty().first { _ in true } == nil)
    }
}
