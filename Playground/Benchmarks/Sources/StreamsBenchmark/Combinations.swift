import AsyncAlgorithms
import OpenCombine
import RxLite

extension Case {
    static let combinations: [Case] = [
        .openCombine(
            "flatMap(just)",
            ours: { count in
                let sum = Sum()
                Observable<Int, Never>.sequence(0..<count)
                    .flatMap { .just($0 &+ 1) }
                    .subscribe { sum.add($0) }
                return sum.value
            },
            theirs: { count in
                let sum = Sum()
                _ = (0..<count).publisher.flatMap { Just($0 &+ 1) }.sink { sum.add($0) }
                return sum.value
            }),
        .openCombine(
            "flatMap(.latest) { just }",
            ours: { count in
                let sum = Sum()
                Observable<Int, Never>.sequence(0..<count)
                    .flatMap(.latest) { .just($0 &+ 1) }
                    .subscribe { sum.add($0) }
                return sum.value
            },
            theirs: { count in
                let sum = Sum()
                let inner = Publishers.Map(upstream: (0..<count).publisher) { Just($0 &+ 1) }
                _ = inner.switchToLatest().sink { sum.add($0) }
                return sum.value
            }),
        .asyncAlgorithms(
            "merge of 2",
            ours: { count in
                let sum = Sum()
                Observable<Int, Never>.merge(.sequence(0..<count / 2), .sequence(0..<count / 2))
                    .subscribe { sum.add($0) }
                return sum.value
            },
            theirs: { count in
                let sum = Sum()
                for await number in merge((0..<count / 2).async, (0..<count / 2).async) { sum.add(number) }
                return sum.value
            }),
        .asyncAlgorithms(
            "zip of 2",
            ours: { count in
                let sum = Sum()
                Observable<(Int, Int), Never>.zip(.sequence(0..<count), .sequence(0..<count))
                    .subscribe { sum.add($0.0 &+ $0.1) }
                return sum.value
            },
            theirs: { count in
                let sum = Sum()
                for await (one, other) in zip((0..<count).async, (0..<count).async) { sum.add(one &+ other) }
                return sum.value
            }),
    ]
}
