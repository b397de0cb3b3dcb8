import OpenCombine
import RxLite

extension Case {
    static let sharing: [Case] =
        [1, 2, 10].map { listeners in
            .openCombine(
                "Signal to \(listeners)",
                ours: { count in
                    let sum = Sum()
                    let signal = Signal<Int>()
                    for _ in 0..<listeners { signal.observable.subscribe { sum.add($0) } }
                    for number in 0..<count { signal.send(number) }
                    return sum.value
                },
                theirs: { count in
                    let sum = Sum()
                    let subject = PassthroughSubject<Int, Never>()
                    let subscriptions = (0..<listeners).map { _ in subject.sink { sum.add($0) } }
                    for number in 0..<count { subject.send(number) }
                    withExtendedLifetime(subscriptions) {}
                    return sum.value
                })
        } + [
            .openCombine(
                "share",
                ours: { count in
                    let sum = Sum()
                    Observable<Int, Never>.sequence(0..<count).share().subscribe { sum.add($0) }
                    return sum.value
                },
                theirs: { count in
                    let sum = Sum()
                    _ = (0..<count).publisher.share().sink { sum.add($0) }
                    return sum.value
                }),
            .openCombine(
                "share(replay: 1)",
                ours: { count in
                    let sum = Sum()
                    Observable<Int, Never>.sequence(0..<count).share(replay: 1).subscribe { sum.add($0) }
                    return sum.value
                },
                theirs: { count in
                    let sum = Sum()
                    // The first value of the subject is 0 and does not change the sum.
                    _ = (0..<count).publisher.multicast(subject: CurrentValueSubject(0)).autoconnect()
                        .sink { sum.add($0) }
                    return sum.value
                }),
        ]
}
