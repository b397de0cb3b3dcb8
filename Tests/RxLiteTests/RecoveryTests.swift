import RxLite
import RxTesting
import Testing

/// Operators that act on the end of a stream.
@Suite struct RecoveryTests {
    static let replacing = [
        MarbleCase("replaceError", "-a-(x|)") {
            try $0.cold("-a-#").replaceError(with: "x").setFailureType()
        },
        MarbleCase("replaceError without one", "-a|") {
            try $0.cold("-a|").replaceError(with: "x").setFailureType()
        },
        MarbleCase("materialize", "-a-(E|)") {
            try $0.cold("-a-|").materialize().map {
                switch $0 {
                case .next(let value): value
                case .end(let end): end == .finished ? "E" : "?"
                }
            }.setFailureType()
        },
        MarbleCase("materialize an error", "-a-(F|)") {
            try $0.cold("-a-#").materialize().map {
                switch $0 {
                case .next(let value): value
                case .end(let end): end == .failed(Lost()) ? "F" : "?"
                }
            }.setFailureType()
        },
        MarbleCase("materialize, take 1", "-(a|)") {
            try $0.cold("-a-#").materialize().take(1).map { $0 == .next("a") ? "a" : "?" }.setFailureType()
        },
        MarbleCase("dematerialize", "-a-b|") { try $0.cold("-a-b|").materialize().dematerialize() },
        MarbleCase("dematerialize an error", "-a-#") { try $0.cold("-a-#").materialize().dematerialize() },
        MarbleCase("dematerialize, the end is in between", "-a-|") {
            try $0.cold("-a-E-b|").map { $0 == "E" ? StreamEvent.end(.finished) : .next($0) }.dematerialize()
        },
        MarbleCase("dematerialize, the error is in between", "-a-#") {
            try $0.coldNever("-a-E-b|").map {
                $0 == "E" ? StreamEvent<String, Lost>.end(.failed(Lost())) : .next($0)
            }.dematerialize()
        },
        MarbleCase("dematerialize, source ends", "-a-|") {
            try $0.cold("-a-|").map { StreamEvent.next($0) }.dematerialize()
        },
        MarbleCase("dematerialize, source fails", "-a-#") {
            try $0.cold("-a-#").map { StreamEvent.next($0) }.dematerialize()
        },
        MarbleCase("asResult", "-a-|") {
            try $0.cold("-a-|").asResult().map { (try? $0.get()) ?? "F" }.setFailureType()
        },
        MarbleCase("asResult of an error", "-a-(F|)") {
            try $0.cold("-a-#").asResult().map { $0 == .failure(Lost()) ? "F" : "a" }.setFailureType()
        },
    ]

    static let retrying = [
        MarbleCase("retry(when:)", "-a- --- -a- --- -a-", span: "^ 14ms !") { clock in
            try clock.cold("-a-#").retry(when: { $0.delay(.milliseconds(3), on: clock) })
                .setFailureType()
        },
        MarbleCase("retry(when:) at once", "-a-a-a-a", span: "^------- !") {
            try $0.cold("-a#").retry(when: { $0 }).setFailureType()
        },
        MarbleCase("retry(when:), attempt finishes", "-a|") {
            try $0.cold("-a|").retry(when: { $0 }).setFailureType()
        },
        MarbleCase("retry(when:), notices finish", "-a-a|") {
            try $0.cold("-a#").retry(when: { $0.take(2) }).setFailureType()
        },
        MarbleCase("retry(when:), notices finish at once", "-a|") {
            try $0.cold("-a#").retry(when: { _ in Observable<Int, Never>.empty() }).setFailureType()
        },
        MarbleCase("retry(when:), notices never come", "-a", span: "^-----!") {
            try $0.cold("-a#").retry(when: { _ in Observable<Int, Never>.never() }).setFailureType()
        },
        MarbleCase("retry(when:), notices fail", "-a-a-a#") {
            try $0.cold("-a#").retry(when: { errors in
                errors.scan(0) { count, _ in count + 1 }.setFailureType(to: Lost.self)
                    .map { count throws(Lost) in
                        if count == 3 { throw Lost() }
                        return count
                    }
            })
        },
        // The end of the notifier does not wait for the attempt.
        MarbleCase("retry(when:), notices end during an attempt", "-a---a---|") { clock in
            let notices = try clock.coldNever("--x----|")
            let attempts = Counter()
            let streams = try [clock.cold("-a#"), clock.cold("-a-------b|")]
            return Observable.deferred { () throws(Lost) in streams[attempts.next()] }
                .retry(when: { _ in notices }).setFailureType()
        },
        MarbleCase("retry(when:), notices during an attempt count for nothing", "-a---a-b|") { clock in
            let notices = try clock.coldNever("--x-xxx----")
            let attempts = Counter()
            let streams = try [clock.cold("-a#"), clock.cold("-a-b|")]
            return Observable.deferred { () throws(Lost) in streams[attempts.next()] }
                .retry(when: { _ in notices }).setFailureType()
        },
    ]

    static let repeating = [
        MarbleCase("repeat", "-a-a-a-", span: "^------!") { try $0.cold("-a|").repeat() },
        MarbleCase("repeat 2", "-a-a|") { try $0.cold("-a|").repeat(2) },
        MarbleCase("repeat once", "-a|") { try $0.cold("-a|").repeat(1) },
        MarbleCase("repeat none", "|") { try $0.cold("-a|").repeat(0) },
        MarbleCase("repeat fewer than none", "|") { try $0.cold("-a|").repeat(-1) },
        MarbleCase("repeat, error", "-a#") { try $0.cold("-a#").repeat(3) },
        MarbleCase("repeat with waits", "-a ---- a---- a|") {
            try $0.cold("-a|").repeat(3, delay: .milliseconds(3))
        },
        MarbleCase("repeat, cancelled in the wait", "-a", span: "^---!") {
            try $0.cold("-a|").repeat(delay: .milliseconds(9))
        },
        MarbleCase("repeat of one that ends at once", "(aaa|)") { _ in .just("a").repeat(3) },
        MarbleCase("repeat for ever, take", "(aaaa|)") { _ in .just("a").repeat().take(4) },
    ]

    @Test(arguments: replacing) func replacingOperators(_ line: MarbleCase) throws { try line.check() }
    @Test(arguments: retrying) func retryingOperators(_ line: MarbleCase) throws { try line.check() }
    @Test(arguments: repeating) func repeatingOperators(_ line: MarbleCase) throws { try line.check() }

    @Test func theRunIsClosedBeforeTheNext() {
        let log = Log<String>()
        let source = Observable<Int, Never> { observer in
            log.add("begin")
            observer.scope.onClose { log.add("closed") }
            observer.finish()
        }
        source.repeat(2).subscribe(onFinish: { log.add("end") })
        #expect(log.entries == ["begin", "closed", "begin", "closed", "end"])
    }

    @Test func theFailedAttemptIsClosedBeforeTheNotice() {
        let log = Log<String>()
        let source = Observable<Int, Lost> { observer in
            log.add("begin")
            observer.scope.onClose { log.add("closed") }
            observer.fail(Lost())
        }
        source.retry(when: { $0.scan(0) { count, _ in count + 1 }.take(while: { $0 < 2 }) })
            .subscribe(onFinish: { log.add("end") })
        #expect(log.entries == ["begin", "closed", "begin", "closed", "end"])
    }

    /// A value that an operator sends with the end comes after its source has been closed.
    @Test(
        arguments: [
            { $0.reduce(0) { $0 + $1 } }, { $0.collect().map(\.count) }, { $0.last() },
            { $0.take(while: { $0 < 1 }, inclusive: true) },
            { $0.take(while: { $0 < 1 }).ifEmpty(default: 1) },
            { $0.materialize().skip(1).map { _ in 1 } },
        ] as [@Sendable (Observable<Int, Never>) -> Observable<Int, Never>])
    func theSourceIsClosedBeforeTheLastValue(
        _ apply: @Sendable (Observable<Int, Never>) -> Observable<Int, Never>
    ) {
        let log = Log<String>()
        apply(Observable.just(1).finally { log.add("closed") })
            .subscribe(onNext: { _ in log.add("value") }, onFinish: { log.add("end") })
        #expect(log.entries == ["closed", "value", "end"])
    }

    @Test func theNoticesAreLeftWithTheEnd() throws {
        let clock = VirtualScheduler()
        let notices: MarbleSource<String, Never> = try clock.cold("-x--x")
        let attempts = Counter()
        let streams = try [clock.cold("-#"), clock.cold("--|")]
        Observable<String, Lost>.deferred { () throws(Lost) in streams[attempts.next()] }
            .retry(when: { _ in notices.observable }).subscribe()
        try clock.run()
        #expect(notices.subscriptions == [SubscriptionSpan(start: .milliseconds(1), end: .milliseconds(4))])
    }

    /// The notifier gets each error, and only those of its own subscription.
    @Test func theNoticesGetTheErrors() {
        let seen = Log<Int>()
        let attempts = Counter()
        struct Numbered: Error { let number: Int }
        let stream = Observable<Int, Numbered>.deferred { () throws(Numbered) in
            throw Numbered(number: attempts.next())
        }
        .retry(when: { errors in
            errors.map(\.number).handleEvents(onNext: { seen.add($0) }).take(while: { $0 % 3 != 2 })
        })
        stream.subscribe()
        #expect(seen.entries == [0, 1, 2])
        stream.subscribe()
        #expect(seen.entries == [0, 1, 2, 3, 4, 5])
    }

    /// A stream that ends at once yields in no other way.
    @Test func repeatStopsWhilePaused() {
        let seen = Log<Int>()
        let scope = Scope()
        let observer = Observer<Int, Never>(
            scope: scope,
            next: { number in
                seen.add(number)
                if seen.entries.count % 5 == 0 { scope.pause() }
            },
            end: { _ in scope.close() })
        scope.lane.enter { Observable.just(7).repeat().subscribe(observer) }
        #expect(seen.entries.count == 5)
        scope.lane.enter { scope.resume() }
        #expect(seen.entries.count == 10)
        scope.cancel()
    }
}

/// Counts up from 0.
final class Counter: Sendable {
    private let count = Shared(-1)
    func next() -> Int {
        count.change { $0 += 1 }
        return count.value
    }
}
