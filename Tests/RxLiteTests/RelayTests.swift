import RxLite
import RxTesting
import Testing

#if canImport(Glibc)
import Glibc
#elseif canImport(Darwin)
import Darwin
#endif

/// Streams that join streams on another scheduler.
@Suite struct RelayTests {
    /// The subscriber's scheduler.
    private let here = VirtualScheduler()
    /// The source's scheduler.
    private let elsewhere = VirtualScheduler()
    private let taken = Shared(0)
    private let closed = Shared(0)

    /// More than any of the buffers in between may hold.
    static let bound = 200

    struct Join: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let join:
            @Sendable (_ home: Observable<Int, Never>, _ source: Observable<Int, Never>) -> Observable<
                Int, Never
            >

        init(
            _ name: String,
            _ join:
                @escaping @Sendable (Observable<Int, Never>, Observable<Int, Never>) -> Observable<Int, Never>
        ) {
            testDescription = name
            self.join = join
        }
    }

    static let joins = [
        Join("flatMap") { home, source in home.flatMap { _ in source } },
        Join("flatMap(.concat)") { home, source in home.flatMap(.concat) { _ in source } },
        Join("flatMap(.latest)") { home, source in home.flatMap(.latest) { _ in source } },
        Join("flatMap(.first)") { home, source in home.flatMap(.first) { _ in source } },
        Join("merge") { home, source in home.merge(with: source) },
        Join("concat") { home, source in .concat([home, source]) },
        Join("zip") { home, source in
            Observable.zip(home.flatMap { .sequence($0...) }, source).map { $0.1 }
        },
        Join("combineLatest") { home, source in Observable.combineLatest(home, source).map { $0.1 } },
        Join("race") { home, source in .race([home.filter { _ in false }.merge(with: .never()), source]) },
        Join("withLatestFrom") { home, source in
            home.flatMap { _ in
                Observable.never().merge(with: source).withLatestFrom(.just(1)) { value, _ in value }
            }
        },
        Join("ifEmpty") { home, source in home.filter { _ in false }.ifEmpty(switchTo: source) },
        Join("expand") { home, source in home.expand { $0 == 0 ? source : .empty() } },
        Join("deferred") { home, source in home.flatMap { _ in .deferred { source } } },
        Join("subscribe(on:)") { home, source in home.flatMap { _ in source.subscribe(on: home.scheduler!) }
        },
    ]

    /// Counts from 1 on the other scheduler, and records the number of values taken.
    private func counting(to last: Int = 1_000_000) -> Observable<Int, Never> {
        Observable<Int, Never>.sequence(1...last)
            .handleEvents(onNext: { [taken] _ in taken.change { $0 += 1 } })
            .finally { [closed] in closed.change { $0 += 1 } }
            .subscribe(on: elsewhere)
    }

    /// One value, here.
    private var home: Observable<Int, Never> { Observable.just(0).subscribe(on: here) }

    private func run(_ rounds: Int = 20) throws {
        for _ in 0..<rounds {
            try here.run()
            try elsewhere.run()
        }
    }

    @Test(arguments: joins) func aSourceElsewhereWaitsForItsSubscriber(_ join: Join) throws {
        let log = Log<Int>()
        let held = Shared<Subscription?>(nil)
        let subscription = join.join(home, counting()).subscribe { value in
            guard value > 0 else { return }
            log.add(value)
            if log.entries.count == 100 { held.value?.pause() }
        }
        held.change { $0 = subscription }
        try here.run()
        // The subscriber's scheduler is blocked for a while.
        for _ in 0..<20 { try elsewhere.run() }
        #expect(taken.value > 0)
        #expect(taken.value < Self.bound)
        try run()
        #expect(log.entries == Array(1...100))
        let takenAtPause = taken.value
        #expect(takenAtPause < 100 + Self.bound)
        try run()
        #expect(taken.value == takenAtPause)
        // Once more, to be cancelled while the source is sending.
        subscription.cancel()
        try run()
        #expect(taken.value == takenAtPause)
        #expect(closed.value == 1)
    }

    @Test(arguments: joins) func nothingIsLostOnTheWay(_ join: Join) throws {
        let log = Log<Int>()
        join.join(home, counting(to: 5000)).subscribe { if $0 > 0 { log.add($0) } }
        try run(300)
        #expect(log.entries == Array(1...5000))
    }

    /// A lane without a scheduler is run by the thread inside it; a source elsewhere must not fill it
    /// meanwhile.
    @Test func aSubscriberThatAThreadIsBusyWithStopsTheSource() throws {
        let (isInside, mayLeave) = (Shared(false), Shared(false))
        let start = Signal<Int>()
        let sum = Shared(0)
        let subscription = start.observable.flatMap { [counting = counting(to: 5000)] number in
            number == 0 ? counting : .just(number)
        }
        .subscribe { value in
            sum.change { $0 += value }
            guard value < 0 else { return }
            isInside.change { $0 = true }
            while !mayLeave.value { sched_yield() }
        }
        start.send(0)
        let thread = OwnThread { start.send(-1) }
        while !isInside.value { sched_yield() }
        for _ in 0..<20 { try elsewhere.run() }
        #expect(taken.value > 0)
        #expect(taken.value < Self.bound)
        mayLeave.change { $0 = true }
        thread.join()
        try elsewhere.run()
        #expect(sum.value == 5000 * 5001 / 2 - 1)
        #expect(!subscription.isActive || taken.value == 5000)
    }

    /// A pause holds back values under way, and stops the source before the buffer is full.
    @Test func aPauseTakesEffectAtOnce() throws {
        let log = Log<Int>()
        let subscription = home.flatMap { [counting = counting()] _ in counting }.take(1000)
            .subscribe { log.add($0) }
        try here.run()
        subscription.pause()
        try run()
        #expect(taken.value == 0)
        subscription.resume()
        try elsewhere.run()
        #expect(taken.value > 0)
        subscription.pause()
        let takenAtPause = taken.value
        try run()
        #expect(log.entries.isEmpty)
        #expect(taken.value == takenAtPause)
        subscription.resume()
        try run(100)
        #expect(log.entries == Array(1...1000))
        #expect(closed.value == 1)
    }
}
