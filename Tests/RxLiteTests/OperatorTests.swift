import RxLite
import RxTesting
import Testing

/// The effect of each operator on values, ends and times.
@Suite struct OperatorTests {
    static let sources = [
        MarbleCase("just", "(a|)") { _ in .just("a") },
        MarbleCase("empty", "|") { _ in .empty() },
        MarbleCase("never", "") { _ in .never() },
        MarbleCase("fail", "#") { _ in .fail(Lost()) },
        MarbleCase("sequence", "(abc|)") { _ in .sequence(["a", "b", "c"]) },
        MarbleCase("empty sequence", "|") { _ in .sequence([]) },
        MarbleCase("deferred", "-a|") { clock in
            let stream = try clock.cold("-a|")
            return .deferred { () throws(Lost) in stream }
        },
        MarbleCase("deferred that throws", "#") { _ in .deferred { () throws(Lost) in throw Lost() } },
        MarbleCase("create", "(ab|)") { _ in
            .create { emitter in
                emitter.send("a")
                emitter.send("b")
                emitter.finish()
                emitter.send("c")
                emitter.fail(Lost())
            }
        },
        MarbleCase("timer", "30ms (t|)") { clock in
            Observable.timer(.milliseconds(30), on: clock).map { "t" }.setFailureType()
        },
        MarbleCase("timer, cancelled", "", span: "^-!") { clock in
            Observable.timer(.milliseconds(30), on: clock).map { "t" }.setFailureType()
        },
    ]

    static let linear = [
        MarbleCase("map", "-A-B|") { try $0.cold("-a-b|").map { $0.uppercased() } },
        MarbleCase("map that throws", "-a-#") {
            try $0.cold("-a-b-c|").map { value throws(Lost) in
                if value == "b" { throw Lost() }
                return value
            }
        },
        MarbleCase("map of an error", "-A#") { try $0.cold("-a#").map { $0.uppercased() } },
        MarbleCase("filter", "-a---c|") { try $0.cold("-a-b-c|").filter { $0 != "b" } },
        MarbleCase("filter that throws", "-a-#") {
            try $0.cold("-a-b-c|").filter { value throws(Lost) in
                if value == "b" { throw Lost() }
                return true
            }
        },
        MarbleCase("compactMap", "---B-C|") {
            try $0.cold("-a-b-c|").compactMap { $0 == "a" ? nil : $0.uppercased() }
        },
        MarbleCase("scan", "-1-2-3|") {
            try $0.cold("-a-b-c|").scan(0) { count, _ in count + 1 }.map { "\($0)" }
        },
        MarbleCase("scan that throws", "-1-#") {
            try $0.cold("-a-b-c|").scan(0) { count, value throws(Lost) in
                if value == "b" { throw Lost() }
                return count + 1
            }.map { "\($0)" }
        },
        MarbleCase("mapError", "-a#") { clock in
            let source: MarbleSource<String, OtherError> = try clock.cold("-a#", error: OtherError())
            return source.observable.mapError { _ in Lost() }
        },
        MarbleCase("setFailureType", "-a|") { try $0.coldNever("-a|").setFailureType() },
        MarbleCase("take", "-a-(b|)") { try $0.cold("-a-b-c|").take(2) },
        MarbleCase("take more than there are", "-a-b|") { try $0.cold("-a-b|").take(5) },
        MarbleCase("take none", "|") { try $0.cold("-a-b|").take(0) },
        MarbleCase("take fewer than none", "|") { try $0.cold("-a-b|").take(-1) },
        MarbleCase("take, error first", "-a#") { try $0.cold("-a#").take(2) },
        MarbleCase("take(until:)", "-a-|") { try $0.cold("-a--b-c|").take(until: $0.coldNever("---x")) },
        MarbleCase("take(until:) empty", "-a-b|") { try $0.cold("-a-b|").take(until: $0.coldNever("|")) },
        MarbleCase("take(until:) at once", "|") { try $0.cold("-a-b|").take(until: .just(1)) },
        MarbleCase("take(until:) source first", "-a|") {
            try $0.cold("-a|").take(until: $0.coldNever("9ms x"))
        },
        MarbleCase("startWith", "(xy)a|") { try $0.cold("----a|").startWith("x", "y") },
        MarbleCase("withLatestFrom", "--1-2-3|") {
            let other = try $0.coldNever("-1-2-3|")
            return try $0.cold("a-b-c-d|").withLatestFrom(other)
        },
        MarbleCase("withLatestFrom, other ended", "1--1|") {
            try $0.cold("a--b|").withLatestFrom($0.coldNever("1|"))
        },
        MarbleCase("handleEvents", "-a#") { try $0.cold("-a#").handleEvents() },
    ]

    static let flattening = [
        MarbleCase("concat", "-a-b|") { try .concat([$0.cold("-a|"), $0.cold("-b|")]) },
        MarbleCase("concat of none", "|") { _ in .concat([]) },
        MarbleCase("concat, error first", "-a#") { try .concat([$0.cold("-a#"), $0.cold("-b|")]) },
        MarbleCase("merge", "-ax-by|") { try .merge($0.cold("-a--b|"), $0.cold("--x--y|")) },
        MarbleCase("merge, one fails", "-ax#") { try .merge($0.cold("-a--b|"), $0.cold("--x#")) },
        MarbleCase("merge(with:)", "-ab|") { try $0.cold("-a|").merge(with: $0.cold("--b|")) },
        MarbleCase("flatMap merge", "--a---(ab)b|") { clock in
            let inner = try clock.cold("--x---x|")
            return try clock.cold("a---b|").flatMap { letter in
                inner.map { _ in letter }
            }
        },
        MarbleCase("flatMap merge(limit: 1) is concat", "-x-y-z|") { clock in
            let inners = try ["a": clock.cold("-x|"), "b": clock.cold("-y|"), "c": clock.cold("-z|")]
            return try clock.cold("(abc|)").flatMap(.merge(limit: 1)) { inners[$0] ?? .empty() }
        },
        MarbleCase("flatMap merge(limit: 0) counts as 1", "-x-y|") { clock in
            let inners = try ["a": clock.cold("-x|"), "b": clock.cold("-y|")]
            return try clock.cold("(ab|)").flatMap(.merge(limit: 0)) { inners[$0] ?? .empty() }
        },
        MarbleCase("flatMap merge(limit: 2)", "--(xy)z|") { clock in
            let inners = try ["a": clock.cold("--x|"), "b": clock.cold("--y|"), "c": clock.cold("--- z|")]
            return try clock.cold("(abc|)").flatMap(.merge(limit: 2)) { inners[$0] ?? .empty() }
        },
        MarbleCase("flatMap latest", "--x--y-y|") { clock in
            let inners = try ["a": clock.cold("-x-x-x|"), "b": clock.cold("-y-y|")]
            return try clock.cold("-a--b|").flatMap(.latest) { inners[$0] ?? .empty() }
        },
        MarbleCase("flatMap first", "--x-x-----z|") { clock in
            let inners = try ["a": clock.cold("-x-x|"), "b": clock.cold("-y|"), "c": clock.cold("-z|")]
            return try clock.cold("-a-b-----c|").flatMap(.first) { inners[$0] ?? .empty() }
        },
        MarbleCase("flatMap, inner fails", "--x#") { clock in
            let inners = try ["a": clock.cold("-x---|"), "b": clock.cold("#")]
            return try clock.cold("-a-b-c|").flatMap { inners[$0] ?? .empty() }
        },
        MarbleCase("flatMap, transform throws", "-#") {
            try $0.cold("-a|").flatMap { _ throws(Lost) -> MarbleCase.Stream in throw Lost() }
        },
        MarbleCase("flatMap waits for the last inner", "---x|") { clock in
            let inner = try clock.cold("--x|")
            return try clock.cold("-a|").flatMap { _ in inner }
        },
        MarbleCase("flatMap to streams that cannot fail", "--x|") { clock in
            let inner = try clock.coldNever("-x|")
            return try clock.cold("-a|").flatMap { _ in inner }
        },
        MarbleCase("flatMap of a stream that cannot fail", "--x#") { clock in
            let inner = try clock.cold("-x#")
            return try clock.coldNever("-a|").flatMap { _ in inner }
        },
    ]

    static let errors = [
        MarbleCase("catch", "-a-b|") { clock in
            let other = try clock.cold("-b|")
            return try clock.cold("-a#").catch { _ in other }
        },
        MarbleCase("catch with two branches", "-a-(b|)") { clock in
            try clock.cold("-a-#").catch { error in
                if error == Lost() { return .just("b") } else { return .fail(error) }
            }
        },
        MarbleCase("catch nothing", "-a|") { clock in
            let other = try clock.cold("-b|")
            return try clock.cold("-a|").catch { _ in other }
        },
        MarbleCase("catch, fails again", "-a-#") { clock in
            let other = try clock.cold("-#")
            return try clock.cold("-a#").catch { _ in other }
        },
        MarbleCase("retry", "-a-a-a#") { try $0.cold("-a#").retry(2) },
        MarbleCase("retry 0", "-a#") { try $0.cold("-a#").retry(0) },
        MarbleCase("retry fewer than none", "-a#") { try $0.cold("-a#").retry(-1) },
        MarbleCase("retry with waits", "-a- 10ms -a- 20ms -a#") { clock in
            try clock.cold("-a#").retry(
                RetryPolicy { _, history in
                    history.count < 2 ? .milliseconds(10 * history.count + 11) : nil
                })
        },
        MarbleCase("retry, cancelled in the wait", "-a", span: "^---!") { clock in
            try clock.cold("-a#").retry(RetryPolicy { _, _ in .milliseconds(10) })
        },
    ]

    static let timed = [
        MarbleCase("delay", "--- -a-b|") { try $0.cold("-a-b|").delay(.milliseconds(3)) },
        MarbleCase("delay, error overtakes", "--- -#") { try $0.cold("-a-b#").delay(.milliseconds(3)) },
        MarbleCase("delay, group", "-- (ab|)") { try $0.cold("(ab|)").delay(.milliseconds(2)) },
        MarbleCase("delay by nothing", "-a|") { try $0.cold("-a|").delay(.zero) },
        MarbleCase("delay, cancelled", "--a", span: "^--!") { try $0.cold("-a-b|").delay(.milliseconds(1)) },
        MarbleCase("timeout of the whole", "-a-b-#") {
            try $0.cold("-a-b-c-d|").timeout(.milliseconds(5)) { Lost() }
        },
        MarbleCase("timeout, in time", "-a-b|") { try $0.cold("-a-b|").timeout(.milliseconds(9)) { Lost() } },
        MarbleCase("timeout of the first value", "--#") {
            try $0.cold("---a|").timeout(.milliseconds(2), until: .firstValue) { Lost() }
        },
        MarbleCase("timeout of the first value, in time", "-a--------b|") {
            try $0.cold("-a--------b|").timeout(.milliseconds(2), until: .firstValue) { Lost() }
        },
        MarbleCase("timeout of the first value by the end", "-|") {
            try $0.cold("-|").timeout(.milliseconds(2), until: .firstValue) { Lost() }
        },
        MarbleCase("timeout of the next value", "--a--b---#") {
            try $0.cold("--a--b----c|").timeout(.milliseconds(4), until: .nextValue) { Lost() }
        },
        MarbleCase("timeout, cancelled", "-a", span: "^-!") {
            try $0.cold("-a-b|").timeout(.milliseconds(9)) { Lost() }
        },
        MarbleCase("observe(on:)", "-a-(bc)#") { try $0.cold("-a-(bc)#").observe(on: $0) },
    ]

    static let shared = [
        MarbleCase("share", "-a-b|") { try $0.cold("-a-b|").share() },
        MarbleCase("share, two at once", "-(aa)-(bb)-|") {
            let shared = try $0.cold("-a----b----|").share()
            return .merge(shared, shared)
        },
        MarbleCase("share, hot source", "-a-b|") { try $0.hot("-a-b|").share() },
    ]

    @Test(arguments: sources) func sourceOperators(_ line: MarbleCase) throws { try line.check() }
    @Test(arguments: linear) func linearOperators(_ line: MarbleCase) throws { try line.check() }
    @Test(arguments: flattening) func flatteningOperators(_ line: MarbleCase) throws { try line.check() }
    @Test(arguments: errors) func errorsOperators(_ line: MarbleCase) throws { try line.check() }
    @Test(arguments: timed) func timedOperators(_ line: MarbleCase) throws { try line.check() }
    @Test(arguments: shared) func sharedOperators(_ line: MarbleCase) throws { try line.check() }

    @Test func theEndOfTheOtherStreamTearsItDown() throws {
        let clock = VirtualScheduler()
        let other: MarbleSource<String, Never> = try clock.cold("-x|")
        let notifier: MarbleSource<String, Never> = try clock.cold("--|")
        let source = try clock.cold("9ms |").take(until: notifier.observable).withLatestFrom(other.observable)
        source.subscribe()
        try clock.run()
        #expect(try other.subscriptions == [SubscriptionSpan("^-!")])
        #expect(try notifier.subscriptions == [SubscriptionSpan("^-!")])
    }

    @Test func latestCancelsTheOldStreamBeforeTheNewBegins() throws {
        let clock = VirtualScheduler()
        let log = Log<String>()
        try clock.cold("ab|").flatMap(.latest) { letter in
            Observable<String, Lost>.never().handleEvents(
                onSubscribe: { log.add("\(letter) begins") }, onCancel: { log.add("\(letter) cancelled") })
        }.subscribe()
        try clock.run()
        #expect(log.entries == ["a begins", "a cancelled", "b begins"])
    }

    @Test func theFailedAttemptIsClosedBeforeTheNext() throws {
        let log = Log<String>()
        let source = Observable<Int, Lost> { observer in
            log.add("begin")
            observer.scope.onClose { log.add("closed") }
            observer.fail(Lost())
        }
        source.retry(1).subscribe()
        source.catch { _ in source }.subscribe()
        #expect(log.entries == ["begin", "closed", "begin", "closed", "begin", "closed", "begin", "closed"])
    }

    @Test func handleEventsTellsWhatHappens() throws {
        for (marbles, span, expected) in [
            ("-a|", "^", ["subscribe", "a", "finished"]), ("-a#", "^", ["subscribe", "a", "failed(lost)"]),
            ("--a-|", "^!", ["subscribe", "cancel"]), ("-a--|", "^---!", ["subscribe", "a", "cancel"]),
        ] {
            let clock = VirtualScheduler()
            let log = Log<String>()
            let stream = try clock.cold(marbles).handleEvents(
                onSubscribe: { log.add("subscribe") }, onNext: { log.add($0) }, onEnd: { log.add("\($0)") },
                onCancel: { log.add("cancel") })
            _ = Recorder(stream, on: clock, span: try SubscriptionSpan(span))
            try clock.run()
            #expect(log.entries == expected)
        }
    }
}
