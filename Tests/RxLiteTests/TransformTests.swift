import RxLite
import RxTesting
import Testing

/// Operators that transform values.
@Suite struct TransformTests {
    static let reducing = [
        MarbleCase("reduce", "------(x|)") {
            try $0.cold("-a-b-c|").reduce("") { $0 + $1 }.map { $0 == "abc" ? "x" : $0 }
        },
        MarbleCase("reduce of nothing", "-(s|)") { try $0.cold("-|").reduce("s") { $0 + $1 } },
        MarbleCase("reduce of an error", "-----#") { try $0.cold("-a-b-#").reduce("") { $0 + $1 } },
        MarbleCase("reduce that throws", "---#") {
            try $0.cold("-a-b-c|").reduce("") { result, value throws(Lost) in
                if value == "b" { throw Lost() }
                return result + value
            }
        },
        MarbleCase("reduce, cancelled", "", span: "^---!") {
            try $0.cold("-a-b-c|").reduce("") { $0 + $1 }
        },
        MarbleCase("collect", "------(3|)") { try $0.cold("-a-b-c|").collect().map { "\($0.count)" } },
        MarbleCase("collect of nothing", "-(0|)") { try $0.cold("-|").collect().map { "\($0.count)" } },
        MarbleCase("collect of an error", "--#") { try $0.cold("-a#").collect().map { "\($0.count)" } },
        MarbleCase("collect, in order", "----(x|)") {
            try $0.cold("(ab)|").collect().map { $0 == ["a", "b"] ? "x" : "y" }
        },
        MarbleCase("collect, the end alone is taken", "----(2|)") {
            try $0.cold("-a-b|").collect().take(1).map { "\($0.count)" }
        },
    ]

    static let comparing = [
        MarbleCase("distinctUntilChanged", "-a---b-a|") { try $0.cold("-a-a-b-a|").distinctUntilChanged() },
        MarbleCase("distinctUntilChanged of nothing", "--|") { try $0.cold("--|").distinctUntilChanged() },
        MarbleCase("distinctUntilChanged, error", "-a---#") {
            try $0.cold("-a-a-#").distinctUntilChanged()
        },
        MarbleCase("distinctUntilChanged(by: predicate)", "-a-B-a|") {
            try $0.cold("-a-B-a|").distinctUntilChanged(by: { $0 == $1 })
        },
        // The comparison is with the last sent value, in the order (previous, current).
        MarbleCase("distinctUntilChanged(by: predicate) compares with the last sent value", "-3-----1-5|") {
            try $0.cold("-3-4-5-1-5|").distinctUntilChanged(by: {
                $0 < $1 && $1 != "5" || $0 == "3" && $1 == "5"
            })
        },
        MarbleCase("distinctUntilChanged(by: predicate) that throws", "-a-#") {
            try $0.cold("-a-b-c|").distinctUntilChanged { _, value throws(Lost) in
                if value == "b" { throw Lost() }
                return false
            }
        },
        MarbleCase("distinctUntilChanged(by: key)", "-a---b---A|") {
            try $0.cold("-a-A-b-B-A|").distinctUntilChanged { $0.lowercased() }
        },
        MarbleCase("distinctUntilChanged(by: key path)", "-a--|") {
            try $0.cold("-a-b|").distinctUntilChanged(by: \.count)
        },
        MarbleCase("distinctUntilChanged(by: key) that throws", "-a-#") {
            try $0.cold("-a-b-c|").distinctUntilChanged { value throws(Lost) in
                if value == "b" { throw Lost() }
                return value
            }
        },
        MarbleCase("distinctUntilChanged of optionals", "n-a-n|") {
            try $0.cold("n-a-n|").map { $0 == "n" ? nil : $0 }.distinctUntilChanged().map { $0 ?? "n" }
        },
        MarbleCase("pairwise", "---x-y|") {
            try $0.cold("-a-b-c|").pairwise().map { $0.previous + $0.current == "ab" ? "x" : "y" }
        },
        MarbleCase("pairwise of one", "-- |") { try $0.cold("-a|").pairwise().map(\.current) },
        MarbleCase("pairwise of nothing", "-|") { try $0.cold("-|").pairwise().map(\.current) },
        MarbleCase("pairwise, error", "---b#") { try $0.cold("-a-b#").pairwise().map(\.current) },
    ]

    static let expanding = [
        MarbleCase("expand", "a-b-c|") {
            let next = try ["a": $0.cold("--b|"), "b": $0.cold("--c|")]
            return try $0.cold("(a|)").expand { next[$0] ?? .empty() }
        },
        MarbleCase("expand waits for the source", "a------|") {
            try $0.cold("a------|").expand { _ in .empty() }
        },
        MarbleCase("expand waits for the streams", "a----|") { clock in
            let pause = try clock.cold("-----|")
            return try clock.cold("(a|)").expand { _ in pause }
        },
        MarbleCase("expand, side by side", "a-(bb)(cccc)-|") {
            let next = try ["a": $0.cold("--(bb)|"), "b": $0.cold("----(cc)---|")]
            return try $0.cold("(a|)").expand { next[$0] ?? .empty() }
        },
        MarbleCase("expand at once is depth first", "(abdecfg|)") { _ in
            let next = ["a": ["b", "c"], "b": ["d", "e"], "c": ["f", "g"]]
            return .just("a").expand { .sequence(next[$0] ?? []) }
        },
        MarbleCase("expand with limit 1 at once is breadth first", "(abcdefg|)") { _ in
            let next = ["a": ["b", "c"], "b": ["d", "e"], "c": ["f", "g"]]
            return .just("a").expand(limit: 1) { .sequence(next[$0] ?? []) }
        },
        // A value that waits for its turn is sent when its stream starts.
        MarbleCase("expand with limit 1", "a--b--x--(y|)") {
            let next = try ["a": $0.cold("---(x|)"), "b": $0.cold("---(y|)"), "x": $0.cold("---|")]
            return try $0.cold("(ab|)").expand(limit: 1) { next[$0] ?? .empty() }
        },
        MarbleCase("expand with limit 2", "(ab)(c|)") {
            let next = try ["a": $0.cold("----|"), "b": $0.cold("----|")]
            return try $0.cold("(abc|)").expand(limit: 2) { next[$0] ?? .empty() }
        },
        MarbleCase("expand, limit 0 counts as 1", "a-b-|") { clock in
            let pause = try clock.cold("--|")
            return try clock.cold("(ab|)").expand(limit: 0) { _ in pause }
        },
        MarbleCase("expand, source fails", "a-#") { clock in
            let next = try clock.cold("-----b|")
            return try clock.cold("a-#").expand { _ in next }
        },
        MarbleCase("expand, a stream fails", "a-b#") {
            let next = try ["a": $0.cold("--b---c|"), "b": $0.cold("-#")]
            return try $0.cold("a---------|").expand { next[$0] ?? .empty() }
        },
        MarbleCase("expand that throws", "a-(b#)") { clock in
            let next = try clock.cold("--b|")
            return try clock.cold("a---------|").expand { value throws(Lost) in
                if value == "b" { throw Lost() }
                return next
            }
        },
        MarbleCase("expand, cancelled", "a-b", span: "^---!") { clock in
            let next = try clock.cold("--b")
            return try clock.cold("a|").expand { _ in next }
        },
        MarbleCase("expand, take", "(aaa|)") { _ in .just("a").expand { .just($0) }.take(3) },
    ]

    @Test(arguments: reducing) func reducingOperators(_ line: MarbleCase) throws { try line.check() }
    @Test(arguments: comparing) func comparingOperators(_ line: MarbleCase) throws { try line.check() }
    @Test(arguments: expanding) func expandingOperators(_ line: MarbleCase) throws { try line.check() }

    @Test func eachSubscriptionReducesAnew() {
        let log = Log<[Int]>()
        let collected = Observable.sequence(1...3).collect()
        collected.subscribe { log.add($0) }
        collected.subscribe { log.add($0) }
        #expect(log.entries == [[1, 2, 3], [1, 2, 3]])
    }

    /// A chain of streams that send at once yields in no other way.
    @Test func expandStopsWhilePaused() {
        let seen = Log<Int>()
        let scope = Scope()
        let observer = Observer<Int, Never>(
            scope: scope,
            next: { number in
                seen.add(number)
                if number % 5 == 4 { scope.pause() }
            },
            end: { _ in scope.close() })
        scope.lane.enter {
            Observable.just(0).expand { $0 < 11 ? .just($0 + 1) : .empty() }.subscribe(observer)
        }
        #expect(seen.entries == Array(0...4))
        scope.lane.enter { scope.resume() }
        #expect(seen.entries == Array(0...9))
        scope.lane.enter { scope.resume() }
        #expect(seen.entries == Array(0...11))
        #expect(!scope.isOpen)
    }

    /// With a limit, values of an endless source must not pile up.
    @Test func expandPausesTheSource() {
        let seen = Log<Int>()
        let source = Observable<Int, Never>.sequence(0...).handleEvents(onNext: { seen.add($0) })
        let running = source.expand(limit: 2) { _ in .never() }.subscribe { _ in }
        #expect(seen.entries == Array(0..<18))
        running.cancel()
        #expect(seen.entries.count == 18)
    }

    @Test func expandResumesTheSource() throws {
        let clock = VirtualScheduler()
        let source = Observable<Int, Never>.sequence(0..<100)
        let recorder = Recorder(
            source.expand(limit: 2) { _ in
                Observable<Void, Never>.timer(.seconds(1), on: clock).filter { false }.map { 0 }
            }, on: clock)
        try clock.run()
        #expect(recorder.values == Array(0..<100))
        #expect(recorder.completion == .finished)
    }
}
