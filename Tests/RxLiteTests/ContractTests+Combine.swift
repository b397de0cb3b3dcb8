import RxLite
import RxTesting

extension ContractTests {
    /// Operators with several inputs.
    static let combining = [
        Operator("zip with itself") { source, _ in Observable.zip(source, source) },
        Operator("zip after a sequence", isEager: true) { source, _ in
            Observable.zip(.sequence(["a", "b"]), source, Observable<Int, Failure>.sequence(0...9))
        },
        Operator("zip with itself by a timer", isDeferred: true) { source, clock in
            Observable<[Element], Failure>.zip([source, source.delay(.milliseconds(700), on: clock), source])
        },
        Operator("zip with never") { source, _ in
            Observable.zip(source, Observable<Int, Failure>.never())
        },
        Operator("combineLatest with itself", isDeferred: true) { source, _ in
            Observable.combineLatest(source, source)
        },
        Operator("combineLatest with just") { source, _ in
            Observable.combineLatest(.just(1), Observable<Int, Failure>.just(2), source)
        },
        Operator("combineLatest of a collection", isDeferred: true) { source, clock in
            Observable<[Element], Failure>.combineLatest([
                source, source.delay(.milliseconds(700), on: clock), source,
            ])
        },
        Operator("combineLatest with empty") { source, _ in
            Observable.combineLatest(source, Observable<Int, Failure>.empty())
        },
        Operator("combineLatest with a closure") { source, _ in
            Observable.combineLatest(Observable<Int, Failure>.just(2), source) { $0 + $1.number }
        },
        Operator("combineLatest with a stream that cannot fail") { source, _ in
            Observable.combineLatest(Observable<Int, Never>.just(1), source) { $0 + $1.number }
        },
        Operator("zip with a stream that cannot fail") { source, _ in
            Observable.zip(source, Observable<Int, Never>.sequence(0...))
        },
        Operator("merge with a stream that cannot fail") { source, _ in
            source.map(\.number).merge(with: Observable<Int, Never>.just(9))
        },
        Operator("merge with a property, take 9", isEager: true) { source, _ in
            source.map(\.number).merge(with: Property(MutableProperty(9))).take(9)
        },
        Operator("race with itself") { source, _ in .race(source, source) },
        Operator("race after never") { source, _ in .race(.never(), source) },
        Operator("race with a timer") { source, clock in
            .race(source.map { _ in }, .timer(.milliseconds(500), on: clock))
        },
        Operator("sample by a timer", isDeferred: true) { source, clock in
            source.sample(by: Observable<Void, Never>.timer(.milliseconds(2500), on: clock))
        },
        Operator("sample by itself", isDeferred: true) { source, _ in source.sample(by: source) },
        Operator("withLatestFrom itself, delayed") { source, clock in
            source.withLatestFrom(source.delay(.milliseconds(700), on: clock))
        },
        Operator("withLatestFrom fail") { source, _ in
            source.withLatestFrom(Observable<Int, Failure>.fail(Refusal()))
        },
    ]
}
