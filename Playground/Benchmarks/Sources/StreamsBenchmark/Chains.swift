import OpenCombine
import RxLite

// For OpenCombine each operator is created by its type, `Publishers.Map(upstream:transform:)`: as a method,
// `map` on a sequence transforms an array in advance, and `map` on a map combines the two closures into one.

extension Case {
    static let chains: [Case] = [
        .openCombine(
            "map x5",
            ours: { count in
                let sum = Sum()
                Observable<Int, Never>.sequence(0..<count)
                    .map { $0 &+ 1 }.map { $0 &* 3 }.map { $0 &- 2 }.map { $0 ^ 5 }.map { $0 &+ 7 }
                    .subscribe { sum.add($0) }
                return sum.value
            },
            theirs: { count in
                let sum = Sum()
                let first = Publishers.Map(upstream: (0..<count).publisher) { $0 &+ 1 }
                let second = Publishers.Map(upstream: first) { $0 &* 3 }
                let third = Publishers.Map(upstream: second) { $0 &- 2 }
                let fourth = Publishers.Map(upstream: third) { $0 ^ 5 }
                let fifth = Publishers.Map(upstream: fourth) { $0 &+ 7 }
                _ = fifth.sink { sum.add($0) }
                return sum.value
            }),
        .openCombine(
            "map, filter, scan",
            ours: { count in
                let sum = Sum()
                Observable<Int, Never>.sequence(0..<count)
                    .map { $0 &+ 1 }.filter { $0 & 1 == 0 }.scan(0) { $0 &+ $1 }
                    .subscribe { sum.add($0) }
                return sum.value
            },
            theirs: { count in
                let sum = Sum()
                let mapped = Publishers.Map(upstream: (0..<count).publisher) { $0 &+ 1 }
                let filtered = Publishers.Filter(upstream: mapped) { $0 & 1 == 0 }
                let scanned = Publishers.Scan(upstream: filtered, initialResult: 0) { $0 &+ $1 }
                _ = scanned.sink { sum.add($0) }
                return sum.value
            }),
        .openCombine(
            "map, filter x6",
            ours: { count in
                let sum = Sum()
                alternating(Observable<Int, Never>.sequence(0..<count)).subscribe { sum.add($0) }
                return sum.value
            },
            theirs: { count in
                let sum = Sum()
                _ = alternating((0..<count).publisher).sink { sum.add($0) }
                return sum.value
            }),
        .openCombine(
            "subscribe to 12 operators",
            ours: { count in
                let sum = Sum()
                for number in 0..<count {
                    alternating(Observable<Int, Never>.just(number)).subscribe { sum.add($0) }
                }
                return sum.value
            },
            theirs: { count in
                let sum = Sum()
                for number in 0..<count { _ = alternating(Just(number)).sink { sum.add($0) } }
                return sum.value
            }
        ).repeated(0.2),
    ]

    func repeated(_ share: Double) -> Case {
        var copy = self
        copy.share = share
        return copy
    }
}

@inline(__always)
private func alternating(_ source: Observable<Int, Never>) -> Observable<Int, Never> {
    let first = source.map { $0 &+ 1 }.filter { $0 != -1 }
    let second = first.map { $0 &+ 2 }.filter { $0 != -2 }
    let third = second.map { $0 &+ 3 }.filter { $0 != -3 }
    let fourth = third.map { $0 &+ 4 }.filter { $0 != -4 }
    let fifth = fourth.map { $0 &+ 5 }.filter { $0 != -5 }
    return fifth.map { $0 &+ 6 }.filter { $0 != -6 }
}

@inline(__always)
private func alternating(_ source: some Publisher<Int, Never>) -> some Publisher<Int, Never> {
    let first = Publishers.Filter(upstream: Publishers.Map(upstream: source) { $0 &+ 1 }) { $0 != -1 }
    let second = Publishers.Filter(upstream: Publishers.Map(upstream: first) { $0 &+ 2 }) { $0 != -2 }
    let third = Publishers.Filter(upstream: Publishers.Map(upstream: second) { $0 &+ 3 }) { $0 != -3 }
    let fourth = Publishers.Filter(upstream: Publishers.Map(upstream: third) { $0 &+ 4 }) { $0 != -4 }
    let fifth = Publishers.Filter(upstream: Publishers.Map(upstream: fourth) { $0 &+ 5 }) { $0 != -5 }
    return Publishers.Filter(upstream: Publishers.Map(upstream: fifth) { $0 &+ 6 }) { $0 != -6 }
}
