import RxLite
import RxTesting
import Testing

/// Known pitfalls of stream libraries.
@Suite struct CornerTests {
    private typealias Stream = Observable<String, Lost>

    /// An operator whose closure throws at the second value of `-a-b-c|`.
    struct Throwing: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let apply: @Sendable (Observable<String, Lost>) -> Observable<String, Lost>

        init(
            _ name: String,
            _ apply: @escaping @Sendable (Observable<String, Lost>) -> Observable<String, Lost>
        ) {
            testDescription = name
            self.apply = apply
        }

        @Sendable static func check(_ value: String) throws(Lost) {
            if value == "b" { throw Lost() }
        }

        @Sendable static func just(_ value: String) throws(Lost) -> Observable<String, Lost> {
            try check(value)
            return .just(value)
        }
    }

    static let throwing = [
        Throwing("map") {
            $0.map { value throws(Lost) in
                try Throwing.check(value); return value
            }
        },
        Throwing("compactMap") {
            $0.compactMap { value throws(Lost) -> String? in
                try Throwing.check(value); return value
            }
        },
        Throwing("filter") {
            $0.filter { value throws(Lost) in
                try Throwing.check(value); return true
            }
        },
        Throwing("scan") {
            $0.scan("") { _, value throws(Lost) in
                try Throwing.check(value); return value
            }
        },
        Throwing("reduce") {
            $0.reduce("") { _, value throws(Lost) in
                try Throwing.check(value); return value
            }
        },
        Throwing("distinctUntilChanged by comparison") {
            $0.distinctUntilChanged { _, value throws(Lost) in
                try Throwing.check(value); return false
            }
        },
        Throwing("distinctUntilChanged by key") {
            $0.distinctUntilChanged { value throws(Lost) in
                try Throwing.check(value); return value
            }
        },
        Throwing("skip while") {
            $0.skip { value throws(Lost) in
                try Throwing.check(value); return true
            }
        },
        Throwing("take while") {
            $0.take { value throws(Lost) in
                try Throwing.check(value); return true
            }
        },
        Throwing("flatMap, merge") { $0.flatMap(.merge, Throwing.just) },
        Throwing("flatMap, concat") { $0.flatMap(.concat, Throwing.just) },
        Throwing("flatMap, latest") { $0.flatMap(.latest, Throwing.just) },
        Throwing("flatMap, first") { $0.flatMap(.first, Throwing.just) },
        Throwing("expand") {
            $0.expand { value throws(Lost) in
                try Throwing.check(value)
                return .empty()
            }
        },
        Throwing("withLatestFrom") {
            $0.withLatestFrom(Observable<Int, Never>.just(1)) { value, _ throws(Lost) in
                try Throwing.check(value)
                return value
            }
        },
    ]

    /// A closure that throws fails its stream at that moment and releases the source.
    @Test(
        arguments: throwing
    )
    func closuresThatThrow(operation: Throwing) throws {
        let clock = VirtualScheduler()
        let source = try clock.cold("-a-b-c|", error: Lost()) as MarbleSource<String, Lost>
        let recorder = Recorder(operation.apply(source.observable).ignoreElements(), on: clock)
        try clock.run()
        try recorder.expect("---#", error: Lost())
        #expect(try source.subscriptions == [SubscriptionSpan("^--!")])
    }

    /// Merge with a limit keeps no record of the streams that have ended.
    @Test(arguments: [1, 4, 16])
    func mergeOfAMillion(limit: Int) {
        let clock = VirtualScheduler(stepLimit: .max)
        let live = LiveCount()
        let counts = Shared((values: 0, hasEnded: false))
        Observable<Int, Never>.sequence(0..<1_000_000)
            .flatMap(.merge(limit: limit)) { number -> Observable<Int, Never> in
                let life = Counted(live)
                return Observable { observer in
                    observer.scope.onClose { _ = life }
                    clock.schedule {
                        observer.scope.enter {
                            observer.next(number)
                            if observer.scope.isOpen { observer.finish() }
                        }
                    }
                }
            }
            .subscribe(
                onNext: { _ in counts.change { $0.values += 1 } },
                onFinish: { counts.change { $0.hasEnded = true } })
        #expect(throws: Never.self) { try clock.run() }
        #expect(counts.value == (1_000_000, true))
        #expect(live.alive == 0)
        // The running streams, and a few that the source has created for its turn.
        #expect(live.peak <= limit + 17)
    }

    /// An end sent from within a value comes after that value, once, and is the last event.
    @Test func theEndFromWithinAValue() {
        for end in [{ $0.finish() }, { $0.fail(Lost()) }] as [@Sendable (Emitter<Int, Lost>) -> Void] {
            let log = Log<String>()
            let kept = Shared<Emitter<Int, Lost>?>(nil)
            Observable<Int, Lost>.create { emitter in kept.change { $0 = emitter } }
                .subscribe(
                    onNext: { value in
                        log.add("(")
                        kept.value?.send(value + 1)
                        kept.value.map(end)
                        kept.value?.send(9)
                        log.add("\(value))")
                    }, onEnd: { _ in log.add("|") })
            kept.value?.send(1)
            #expect(log.entries == ["(", "1)", "(", "2)", "|"])
        }
    }

    /// Two ends of a stream at the same moment end it once.
    @Test func endsFromTwoDoors() {
        for _ in 0..<500 {
            let log = Log<String>()
            let live = LiveCount()
            let kept = Shared<Emitter<Int, Lost>?>(nil)
            Observable<Int, Lost>.create { emitter in
                let life = Counted(live)
                emitter.onClose { _ = life }
                kept.change { $0 = emitter }
            }
            .subscribe(onNext: { _ in log.add("value") }, onEnd: { _ in log.add("end") })
            let one = OwnThread { kept.value?.finish() }
            kept.value?.fail(Lost())
            one.join()
            kept.value?.send(1)
            #expect(log.entries == ["end"])
            #expect(live.alive == 0)
        }
    }

    /// An inner stream that fails after the outer one ended fails the result.
    @Test(arguments: [
        FlattenStrategy.merge, .concat, .latest, .first,
    ])
    func innerFailure(strategy: FlattenStrategy) throws {
        let clock = VirtualScheduler()
        let inner = try clock.cold("---x-#")
        let recorder = Recorder(try clock.cold("-a|").flatMap(strategy) { _ in inner }, on: clock)
        try clock.run()
        try recorder.expect("----x-#", error: Lost())
    }

    /// A notifier that sends during its subscription stops the stream before its source begins.
    @Test func immediateNotice() {
        let log = Log<String>()
        let source = Observable<Int, Never>.deferred {
            log.add("subscribed")
            return .sequence(0...)
        }
        source.take(until: Observable<Void, Never>.just(()))
            .subscribe(onNext: { _ in log.add("value") }, onFinish: { log.add("|") })
        #expect(log.entries == ["|"])
    }

    /// Inner streams whose sources are held after their ends, while others start.
    @Test func endedInnerStreamsSendNothing() throws {
        let emitters = Shared<[Emitter<String, Never>]>([])
        let values = Shared<[String]>([])
        Observable<Int, Never>.sequence(0..<8)
            .flatMap(.merge(limit: 2)) { _ in
                .create { emitter in emitters.change { $0.append(emitter) } }
            }
            .subscribe { value in values.change { $0.append(value) } }
        for number in 0..<8 {
            let emitter = emitters.value[number]
            emitter.send("value \(number)")
            emitter.finish()
            for ended in emitters.value[...number] { ended.send("late") }
        }
        #expect(values.value == (0..<8).map { "value \($0)" })
    }
}
