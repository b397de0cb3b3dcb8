import RxLite
import RxTesting
import Testing

/// Work that could occupy a scheduler without end yields to other work.
@Suite struct TurnTests {
    private let clock = VirtualScheduler(stepLimit: 10_000_000)

    struct Line: Sendable, CustomTestStringConvertible {
        let testDescription: String
        /// A stream that calls back endlessly, until that returns false.
        let stream: @Sendable (VirtualScheduler, @escaping @Sendable () -> Bool) -> Observable<Int, Lost>

        init(
            _ name: String,
            _ stream:
                @escaping @Sendable (VirtualScheduler, @escaping @Sendable () -> Bool) -> Observable<
                    Int, Lost
                >
        ) {
            testDescription = name
            self.stream = stream
        }
    }

    /// A stream that fails, or finishes, during its subscription.
    private static func attempt(_ goesOn: @escaping @Sendable () -> Bool) -> Observable<Int, Lost> {
        .deferred { goesOn() ? .fail(Lost()) : .never() }
    }

    private static func home(_ clock: VirtualScheduler) -> Observable<Int, Lost> {
        .just(1).subscribe(on: clock)
    }

    private static func run(_ goesOn: @escaping @Sendable () -> Bool) -> Observable<Int, Lost> {
        .deferred { goesOn() ? .empty() : .never() }
    }

    static let lines = [
        Line("retry") { clock, goesOn in attempt(goesOn).subscribe(on: clock).retry(.max) },
        Line("retry on the spot") { clock, goesOn in
            home(clock).flatMap { _ in attempt(goesOn).retry(.max) }
        },
        Line("retry of a stream that calls back") { clock, goesOn in
            home(clock).flatMap { _ in
                Observable<Int, Lost>.create { emitter in if goesOn() { emitter.fail(Lost()) } }.retry(.max)
            }
        },
        Line("retry(when:)") { clock, goesOn in
            home(clock).flatMap { _ in attempt(goesOn).retry(when: { $0 }) }
        },
        Line("repeat") { clock, goesOn in
            home(clock).flatMap { _ in run(goesOn).repeat() }
        },
        Line("expand") { clock, goesOn in
            home(clock).expand { _ in goesOn() ? .just(1) : .empty() }
        },
        Line("a sequence") { clock, goesOn in
            home(clock).flatMap { _ in
                Observable<Int, Lost>.sequence(1...).take(while: { _ in goesOn() })
            }
        },
        Line("concat of a sequence") { clock, goesOn in
            Observable<Int, Lost>.sequence(1...).subscribe(on: clock).flatMap(.concat) { _ in run(goesOn) }
                .take(while: { _ in goesOn() })
        },
        Line("a signal sent to from within") { clock, goesOn in
            let signal = Signal<Int>()
            return signal.observable.setFailureType(to: Lost.self).startWith(1).subscribe(on: clock)
                .handleEvents(onNext: { _ in if goesOn() { signal.send(1) } })
        },
    ]

    @Test(arguments: lines) func othersHaveTheirTurn(_ line: Line) throws {
        let count = Shared(0)
        let isOver = Shared(false)
        let countAtTurn = Shared<Int?>(nil)
        let limit = 200_000
        let subscription = line.stream(clock) {
            count.change { $0 += 1 }
            return !isOver.value && count.value < limit
        }
        .subscribe()
        clock.schedule {
            clock.schedule {
                countAtTurn.change { $0 = count.value }
                isOver.change { $0 = true }
            }
        }
        try clock.run()
        let turn = try #require(countAtTurn.value)
        #expect(turn < 20_000)
        subscription.cancel()
    }

    /// For any amount of work that an actor gets at once.
    @Test func anActorIsSharedWithOthers() async {
        actor Place {}
        let place = Place()
        let (busy, other) = (ActorScheduler(place), ActorScheduler(place))
        let count = Shared(0)
        let limit = 200_000
        await withCheckedContinuation { continuation in
            busy.schedule {
                for _ in 0..<limit { busy.schedule { count.change { $0 += 1 } } }
                other.schedule { continuation.resume() }
            }
        }
        #expect(count.value < limit)
    }
}
