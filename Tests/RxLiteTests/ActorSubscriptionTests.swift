import RxLite
import Testing

/// Callbacks that run on an actor, checked by the compiler.
@Suite struct ActorSubscriptionTests {
    @MainActor private final class Screen {
        private(set) var shown: [Int] = []
        private(set) var failures: [Lost] = []
        func show(_ number: Int) { shown.append(number) }
        func show(_ error: Lost) { failures.append(error) }
    }

    private actor Cart {
        private(set) var goods: [Int] = []
        private(set) var failures: [Lost] = []
        func add(_ number: Int) { goods.append(number) }

        func fill(from stream: Observable<Int, Lost>) async {
            await withCheckedContinuation { continuation in
                stream.subscribe(
                    isolatedTo: self, onNext: { cart, number in cart.add(number) },
                    onFailure: { cart, error in
                        cart.failures.append(error)
                        continuation.resume()
                    },
                    onFinish: { _ in continuation.resume() })
            }
        }
    }

    @MainActor @Test func onTheMainActor() async {
        let screen = Screen()
        await withCheckedContinuation { continuation in
            Observable<Int, Never>.sequence(0..<1000).subscribe(
                isolatedTo: MainActor.self, onNext: { screen.show($0) }, onFinish: { continuation.resume() })
        }
        #expect(screen.shown == Array(0..<1000))
    }

    /// Code on an actor that does not ask for it gets its values where they are produced, like all other
    /// code.
    @MainActor @Test func withoutAskingItIsNotDeliveredThere() {
        let log = Log<Int>()
        Observable<Int, Never>.just(1).subscribe { log.add($0) }
        Observable<Int, Never>.just(2).subscribe(onNext: { log.add($0) })
        #expect(log.entries == [1, 2])
    }

    @MainActor @Test func theSchedulerOfTheMainActorHasAShortName() async {
        let stream = Observable<Int, Never>.sequence(0..<10).observe(on: .main)
        #expect(stream.scheduler === ActorScheduler.main)
        #expect(Signal<Int>().observe(on: .main).scheduler === ActorScheduler.main)
        let screen = Screen()
        await withCheckedContinuation { continuation in
            stream.subscribe(
                onNext: { number in MainActor.assumeIsolated { screen.show(number) } },
                onFinish: { continuation.resume() })
        }
        #expect(screen.shown == Array(0..<10))
    }

    @MainActor @Test func anErrorOnTheMainActor() async {
        let screen = Screen()
        await withCheckedContinuation { continuation in
            Observable<Int, Lost>.concat([.just(1), .fail(Lost())]).subscribe(
                isolatedTo: MainActor.self, onNext: { screen.show($0) },
                onFailure: { error in
                    screen.show(error)
                    continuation.resume()
                })
        }
        #expect(screen.shown == [1])
        #expect(screen.failures == [Lost()])
    }

    @MainActor @Test func nothingComesAfterACancelOnTheMainActor() async {
        let screen = Screen()
        let numbers = Signal<Int>()
        let subscription = numbers.observable.subscribe(
            isolatedTo: MainActor.self, onNext: { screen.show($0) })
        await Task.detached { for number in 0..<100 { numbers.send(number) } }.value
        subscription.cancel()
        let shown = screen.shown
        await withCheckedContinuation { continuation in
            ActorScheduler.main.schedule { continuation.resume() }
        }
        #expect(screen.shown == shown)
    }

    @Test func onAnyActor() async {
        let cart = Cart()
        await cart.fill(from: .sequence(0..<1000))
        #expect(await cart.goods == Array(0..<1000))
        await cart.fill(from: .fail(Lost()))
        #expect(await cart.failures == [Lost()])
    }

    @Test func theActorIsLetGoOfAtTheEnd() async {
        let life = LiveCount()
        do {
            let place = Counting(life)
            await withCheckedContinuation { continuation in
                Observable<Int, Never>.just(1).subscribe(
                    isolatedTo: place, onNext: { _, _ in }, onFinish: { _ in continuation.resume() })
            }
        }
        await until { life.alive == 0 }
    }

    private actor Counting {
        private let token: Counted
        init(_ life: LiveCount) { token = Counted(life) }
    }
}
