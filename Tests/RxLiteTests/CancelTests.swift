import RxLite
import RxTesting
import Testing

@Suite struct CancelTests {
    private let log = Log<String>()

    @Test func takeStopsAnEndlessSequence() {
        let taken = Shared(0)
        Observable<Int, Never>.sequence(0...)
            .handleEvents(onNext: { _ in taken.change { $0 += 1 } })
            .take(1).subscribe { [log] in log.add("\($0)") }
        #expect(log.entries == ["0"])
        #expect(taken.value == 1)
    }

    @Test func createSeesThatNobodyListens() {
        let rounds = Shared(0)
        let stream = Observable<Int, Never>.create { emitter in
            while !emitter.isCancelled {
                rounds.change { $0 += 1 }
                emitter.send(rounds.value)
            }
        }
        stream.take(3).subscribe { [log] in log.add("\($0)") }
        #expect(log.entries == ["1", "2", "3"])
        #expect(rounds.value == 3)
    }

    @Test func createInsideFlatMapSeesItToo() {
        let stream = Observable<Int, Never>.sequence(0...).flatMap(.concat) { number in
            Observable<Int, Never>.create { emitter in
                while !emitter.isCancelled { emitter.send(number) }
            }
        }
        stream.take(3).subscribe { [log] in log.add("\($0)") }
        #expect(log.entries == ["0", "0", "0"])
    }

    @Test func emittersTearDownOnce() {
        for end in [{ $0.finish() }, { $0.fail(Lost()) }] as [@Sendable (Emitter<Int, Lost>) -> Void] {
            let closed = Log<String>()
            let kept = Shared<Emitter<Int, Lost>?>(nil)
            let subscription = Observable<Int, Lost>.create { emitter in
                emitter.onClose { closed.add("first") }
                emitter.onClose { closed.add("second") }
                kept.change { $0 = emitter }
                end(emitter)
                emitter.onClose { closed.add("late") }
            }.subscribe()
            subscription.cancel()
            kept.value?.send(1)
            #expect(kept.value?.isCancelled == true)
            #expect(closed.entries == ["second", "first", "late"])
        }
    }

    @Test func cancelFromWithinAValue() {
        let signal = Signal<Int>()
        let subscription = Shared<Subscription?>(nil)
        let new = signal.observable
            .handleEvents(onCancel: { [log] in log.add("torn down") })
            .flatMap { Observable<Int, Never>.sequence([$0, $0 + 1, $0 + 2]) }
            .subscribe { [log] value in
                log.add("\(value)")
                if value == 2 { subscription.value?.cancel() }
            }
        subscription.change { $0 = new }
        signal.send(1)
        signal.send(9)
        #expect(log.entries == ["1", "2", "torn down"])
        #expect(!new.isActive)
    }

    @Test func cancelFromWithinTheSubscribing() {
        let subscription = Shared<Subscription?>(nil)
        let stream = Observable<Int, Never> { [log] observer in
            observer.scope.onClose { log.add("torn down") }
            observer.next(1)
            observer.scope.cancel()
            log.add("open: \(observer.scope.isOpen)")
            if observer.scope.isOpen { observer.next(2) }
        }
        subscription.change { $0 = stream.subscribe { [log] in log.add("\($0)") } }
        #expect(log.entries == ["1", "open: false", "torn down"])
        #expect(subscription.value?.isActive == false)
    }

    @Test func cancelFromWithinTheEnd() {
        let subscription = Shared<Subscription?>(nil)
        let signal = Signal<Void>()
        let new = Observable<Int, Never>.never().take(until: signal.observable)
            .subscribe(onFinish: { [log] in
                log.add("end")
                subscription.value?.cancel()
            })
        subscription.change { $0 = new }
        signal.send()
        signal.send()
        #expect(log.entries == ["end"])
    }

    @Test func cancelFromAnotherThreadEndsAnEndlessStream() async {
        let started = Signal<Subscription>()
        let kept = Shared<Subscription?>(nil)
        started.observable.subscribe { subscription in kept.change { $0 = subscription } }
        let stream = Observable<Int, Never> { observer in
            started.send(Subscription.of(observer.scope))
            observer.scope.perform {
                while observer.scope.isOpen { observer.next(0) }
            }
        }
        let running = OwnThread { stream.subscribe() }
        await until { kept.value != nil }
        kept.value?.cancel()
        running.join()
        #expect(kept.value?.isActive == false)
    }

    /// A child scope of a running subscription, cancelled by another thread while its own children come and
    /// go.
    @Test func childScopesAreCancelledFromAnyThread() async {
        for _ in 0..<200 {
            let count = LiveCount()
            let lane = Lane()
            let root = Scope(lane: lane)
            #expect(lane.tryEnter())
            let child = root.child()
            lane.leave()
            let late = Shared(0)
            await withTaskGroup(of: Void.self) { group in
                group.addTask {
                    for _ in 0..<100 {
                        lane.enter {
                            let token = Counted(count)
                            let wasOpen = child.isOpen
                            let grandchild = child.child()
                            grandchild.onClose { _ = token }
                            if !wasOpen && grandchild.isOpen { late.change { $0 += 1 } }
                        }
                    }
                }
                group.addTask { child.cancel() }
                group.addTask { child.cancel() }
            }
            #expect(!child.isOpen && root.isOpen)
            #expect(late.value == 0)
            #expect(count.alive == 0)
            root.cancel()
        }
    }

    @Test func aCancelledChildScopeIsSilentAtOnce() {
        let root = Scope()
        #expect(root.lane.tryEnter())
        let child = root.child()
        child.cancel()
        #expect(!child.isOpen)
        #expect(root.isOpen)
        root.lane.leave()
    }

    @Test func aBagCancelsWhatItHolds() {
        let signal = Signal<Int>()
        do {
            let bag = SubscriptionBag()
            signal.observable.subscribe { [log] in log.add("\($0)") }.store(in: bag)
            signal.send(1)
            bag.cancel()
            signal.send(2)
            signal.observable.subscribe { [log] in log.add("\($0)") }.store(in: bag)
            signal.send(3)
        }
        signal.send(4)
        #expect(log.entries == ["1", "3"])
    }

    @Test func resumingWithoutAPauseDoesNothing() {
        let taken = Shared(0)
        let scope = Scope()
        let observer = Observer<Int, Never>(
            scope: scope, next: { _ in taken.change { $0 += 1 } }, end: { _ in scope.close() })
        scope.lane.enter {
            scope.resume()
            scope.pause()
            Observable<Int, Never>.sequence([1, 2, 3]).subscribe(observer)
        }
        #expect(taken.value == 0)
        scope.lane.enter { scope.resume() }
        #expect(taken.value == 3)
    }

    @Test func pausesNest() {
        let taken = Shared(0)
        let signal = Signal<Void>()
        let stream = signal.observable.flatMap { Observable<Int, Never>.sequence(1...3) }
        let subscription = stream.subscribe { _ in taken.change { $0 += 1 } }
        subscription.pause()
        subscription.pause()
        signal.send()
        subscription.resume()
        #expect(taken.value == 0)
        subscription.resume()
        #expect(taken.value == 3)
    }
}

extension Subscription {
    /// A subscription that consists of `scope` alone.
    fileprivate static func of(_ scope: Scope) -> Subscription {
        Observable<Never, Never>.never().handleEvents(onCancel: { scope.cancel() }).subscribe()
    }
}
