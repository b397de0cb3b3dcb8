import Dispatch
import OpenCombine
import OpenCombineDispatch
import RxLite
import RxLoop

extension Case {
    static let hops: [Case] = [
        Case(
            name: "observe(on:) from loop to loop", peer: "OpenCombine, Dispatch",
            ours: { count in
                let sum = Sum()
                let here = EventLoop(name: "here")
                let there = EventLoop(name: "there")
                await withCheckedContinuation { continuation in
                    here.schedule {
                        Observable<Int, Never>.sequence(0..<count).observe(on: there)
                            .subscribe(onNext: { sum.add($0) }, onFinish: { continuation.resume() })
                    }
                }
                here.shutDown()
                there.shutDown()
                return sum.value
            },
            theirs: { count in
                let sum = Sum()
                let here = DispatchQueue(label: "here")
                let there = DispatchQueue(label: "there")
                let kept = Kept()
                await withCheckedContinuation { continuation in
                    here.async {
                        kept.subscription = (0..<count).publisher.receive(on: there.ocombine)
                            .sink(
                                receiveCompletion: { _ in continuation.resume() },
                                receiveValue: { sum.add($0) })
                    }
                }
                here.sync { kept.subscription = nil }
                return sum.value
            }),
        Case(
            name: "values(.unbounded), filled, then taken", peer: "AsyncStream",
            ours: { count in
                let sum = Sum()
                let numbers = Observable<Int, Never>.create { emitter in
                    for number in 0..<count { emitter.send(number) }
                    emitter.finish()
                }
                for await number in numbers.values(buffering: .unbounded) { sum.add(number) }
                return sum.value
            },
            theirs: filledStream),
        Case(
            name: "values(.suspend) of a sequence", peer: "AsyncStream",
            ours: { count in
                let sum = Sum()
                let numbers = Observable<Int, Never>.sequence(0..<count)
                for await number in numbers.values(buffering: .suspend(high: 64, low: 16)) { sum.add(number) }
                return sum.value
            },
            theirs: filledStream),
    ]
}

private let filledStream: Case.Work = { count in
    let sum = Sum()
    let numbers = AsyncStream<Int>(bufferingPolicy: .unbounded) { continuation in
        for number in 0..<count { continuation.yield(number) }
        continuation.finish()
    }
    for await number in numbers { sum.add(number) }
    return sum.value
}

private final class Kept: @unchecked Sendable {
    // Unchecked: touched only on one serial queue.
    var subscription: AnyCancellable?
}
