import RxLite
import Testing

/// `first()` and `collect()` are operators, and awaited they give the values themselves: also inside asynchronous
/// functions, where the compiler has both to choose from.
@Suite struct AwaitedOperatorTests {
    private let numbers = Observable<Int, Never>.sequence(1...3)
    private let failing = Observable<Int, Lost>.concat([.just(1), .fail(Lost())])

    @Test func awaitedTheyGiveValues() async throws {
        let all = await numbers.collect()
        #expect(all == [1, 2, 3])
        #expect(await numbers.collect().map { $0 * 2 } == [2, 4, 6])
        #expect(await numbers.first().map { $0 + 1 } == 2)
        #expect(try await failing.first() == 1)
        await #expect(throws: Lost()) { try await failing.collect() }
    }

    @Test func chainedTheyGiveStreams() async {
        let log = Log<Int>()
        numbers.collect().map { $0.count }.subscribe { log.add($0) }
        numbers.first().map { $0 + 4 }.subscribe { log.add($0) }
        Observable.zip(numbers.collect(), numbers.first()).subscribe { log.add($0.0.count + $0.1 + 2) }
        numbers.flatMap { [numbers] _ in numbers.first() }.collect().subscribe { log.add($0.count + 4) }
        for await first in numbers.first().values(buffering: .unbounded) { log.add(first + 7) }
        let typed: Observable<[Int], Never> = numbers.collect()
        typed.subscribe { log.add($0.count + 6) }
        #expect(log.entries == [3, 5, 6, 7, 8, 9])
    }

    @Test func aStreamIsWhatAnAsynchronousFunctionReturnsIfItsTypeSaysSo() async {
        func sum(of numbers: Observable<Int, Never>) async -> Observable<[Int], Never> { numbers.collect() }
        #expect(await sum(of: numbers).map { $0.reduce(0, +) }.first() == 6)
    }
}
