import RxLite
import RxTesting
import Testing

/// Closures that throw errors of any type: the stream fails with them, as with its own.
@Suite struct ThrowingClosureTests {
    private struct Odd: Error, Equatable { let number: Int }

    private static func even(_ number: Int) throws -> Int {
        if number % 2 == 1 { throw Odd(number: number) }
        return number
    }

    private let numbers = Observable<Int, Lost>.concat([.sequence([2, 4]), .fail(Lost())])
    private let odd = Observable<Int, Lost>.sequence([2, 4, 5, 6])

    @Test func theClosuresErrorEndsTheStream() async {
        let even = Self.even
        let streams: [Observable<Int, any Error>] = [
            odd.map { try even($0) }, odd.compactMap { try even($0) as Int? },
            odd.filter { try even($0) > 0 },
            odd.scan(0) { try even($1) + $0 }, odd.reduce(0) { try even($1) + $0 },
        ]
        for (index, stream) in streams.enumerated() {
            let log = Log<Int>()
            let counted = stream.handleEvents(onNext: { log.add($0) })
            await #expect(throws: Odd(number: 5)) { try await counted.collect().value() }
            #expect(log.entries == [[2, 4], [2, 4], [2, 4], [2, 6], []][index])
        }
    }

    @Test func theStreamsOwnErrorStays() async {
        let even = Self.even
        let streams: [Observable<Int, any Error>] = [
            numbers.map { try even($0) }, numbers.compactMap { try even($0) as Int? },
            numbers.filter { try even($0) > 0 }, numbers.scan(0) { try even($1) + $0 },
            numbers.reduce(0) { try even($1) + $0 },
        ]
        for stream in streams { await #expect(throws: Lost()) { try await stream.collect().value() } }
    }

    @Test func aTypedClosureKeepsTheFailuresType() async {
        let stream: Observable<Int, Lost> = odd.map { number throws(Lost) in
            if number == 5 { throw Lost() }
            return number
        }
        await #expect(throws: Lost()) { try await stream.collect().value() }
    }
}
