import RxLite
import RxTesting
import Testing

/// Operators that drop early or late values, or react to their absence.
@Suite struct LimitTests {
    static let taking = [
        MarbleCase("take(while:)", "-1-2-|") { try $0.cold("-1-2-3-1|").take(while: { $0 < "3" }) },
        MarbleCase("take(while:) inclusive", "-1-2-(3|)") {
            try $0.cold("-1-2-3-1|").take(while: { $0 < "3" }, inclusive: true)
        },
        MarbleCase("take(while:) to the end", "-1-2|") { try $0.cold("-1-2|").take(while: { $0 < "3" }) },
        MarbleCase("take(while:) inclusive to the end", "-1-2|") {
            try $0.cold("-1-2|").take(while: { $0 < "3" }, inclusive: true)
        },
        MarbleCase("take(while:) none", "-|") { try $0.cold("-3-1|").take(while: { $0 < "3" }) },
        MarbleCase("take(while:), error first", "-1#") { try $0.cold("-1#").take(while: { $0 < "3" }) },
        MarbleCase("take(while:) that throws", "-1-#") {
            try $0.cold("-1-2-3|").take(while: { value throws(Lost) in
                if value == "2" { throw Lost() }
                return true
            })
        },
        MarbleCase("take(for:)", "-a--|") { try $0.cold("-a----b|").take(for: .milliseconds(4)) },
        MarbleCase("take(for:), source first", "-a|") { try $0.cold("-a|").take(for: .milliseconds(4)) },
        MarbleCase("take(for:), error first", "-a#") { try $0.cold("-a#").take(for: .milliseconds(4)) },
        MarbleCase("take(for:), a hot source's value at its end", "-a--(b|)") {
            try $0.hot("-a--b-c|").take(for: .milliseconds(4))
        },
        MarbleCase("take(for:) nothing", "|") { try $0.cold("-a|").take(for: .zero) },
        MarbleCase("take(for:), cancelled", "-a", span: "^-!") {
            try $0.cold("-a-b|").take(for: .milliseconds(9))
        },
        MarbleCase("take(until:)", "-a--|") { try $0.cold("-a----b|").take(until: $0.cold("----x#")) },
        MarbleCase("take(until:), error of the notifier", "-a--#") {
            try $0.cold("-a----b|").take(until: $0.cold("----#"))
        },
        MarbleCase("take(until:), error of the notifier at once", "#") {
            try $0.cold("-a-b|").take(until: Observable<Int, Lost>.fail(Lost()))
        },
        MarbleCase("take(until:), end of the notifier", "-a-b|") {
            try $0.cold("-a-b|").take(until: $0.cold("--|"))
        },
        MarbleCase("take(until:) of a signal", "-a--|") {
            try $0.cold("-a----b|").take(until: $0.coldNever("----x"))
        },
        MarbleCase("first", "-(a|)") { try $0.cold("-a-b-|").take(1) },
        MarbleCase("first of none", "-|") { try $0.cold("-|").take(1) },
        MarbleCase("first, error", "-#") { try $0.cold("-#").take(1) },
        MarbleCase("last", "-----(b|)") { try $0.cold("-a-b-|").last() },
        MarbleCase("last of none", "-|") { try $0.cold("-|").last() },
        MarbleCase("last, error", "----#") { try $0.cold("-a-b#").last() },
        MarbleCase("first(where:)", "---(b|)") { try $0.cold("-a-b-b-|").first(where: { $0 > "a" }) },
        MarbleCase("first(where:), none", "---|") { try $0.cold("-a-|").first(where: { $0 > "a" }) },
        MarbleCase("first(where:), error before", "--#") { try $0.cold("-a#").first(where: { $0 > "a" }) },
        MarbleCase("takeLast", "-----(bc|)") { try $0.cold("-abc-|").takeLast(2) },
        MarbleCase("takeLast of fewer", "---(a|)") { try $0.cold("-a-|").takeLast(2) },
        MarbleCase("takeLast of none", "-|") { try $0.cold("-|").takeLast(2) },
        MarbleCase("takeLast, error", "---#") { try $0.cold("-ab#").takeLast(2) },
        MarbleCase("takeLast 0", "|") { try $0.cold("-a-|").takeLast(0) },
        MarbleCase("takeLast fewer than none", "|") { try $0.cold("-a-|").takeLast(-1) },
    ]

    static let skipping = [
        MarbleCase("skip", "-----c|") { try $0.cold("-a-b-c|").skip(2) },
        MarbleCase("skip none", "-a-b|") { try $0.cold("-a-b|").skip(0) },
        MarbleCase("skip fewer than none", "-a-b|") { try $0.cold("-a-b|").skip(-1) },
        MarbleCase("skip more than there are", "----|") { try $0.cold("-a-b|").skip(5) },
        MarbleCase("skip, error first", "--#") { try $0.cold("-a#").skip(2) },
        MarbleCase("skip(while:)", "-----3-1|") { try $0.cold("-1-2-3-1|").skip(while: { $0 < "3" }) },
        MarbleCase("skip(while:) all", "----|") { try $0.cold("-1-2|").skip(while: { $0 < "3" }) },
        MarbleCase("skip(while:) that throws", "---#") {
            try $0.cold("-1-2-3|").skip(while: { value throws(Lost) in
                if value == "2" { throw Lost() }
                return true
            })
        },
        MarbleCase("skip(while:), no longer asked", "---2-3|") {
            try $0.cold("-1-2-3|").skip(while: { value throws(Lost) in
                if value == "3" { throw Lost() }
                return value == "1"
            })
        },
        MarbleCase("skip(until:)", "-----c|") { try $0.cold("-a-b-c|").skip(until: $0.coldNever("----x")) },
        MarbleCase("skip(until:) at once", "-a-b|") { try $0.cold("-a-b|").skip(until: .just(1)) },
        MarbleCase("skip(until:) empty", "----|") {
            try $0.cold("-a-b|").skip(until: Observable<Int, Never>.empty())
        },
        MarbleCase("skip(until:) never", "----|") { try $0.cold("-a-b|").skip(until: $0.coldNever("")) },
        MarbleCase("skip(until:), error first", "--#") {
            try $0.cold("-a#").skip(until: $0.coldNever("---x"))
        },
        MarbleCase("skip(until:), error of the notifier", "--#") {
            try $0.cold("-a-b|").skip(until: $0.cold("--#"))
        },
        MarbleCase("skip(until:), error of the notifier after its value", "---b|") {
            try $0.cold("-a-b|").skip(until: $0.cold("--x#"))
        },
        MarbleCase("skip(until:), error of the notifier at once", "#") {
            try $0.cold("-a-b|").skip(until: Observable<Int, Lost>.fail(Lost()))
        },
        // At the same instant the stream that was subscribed to first comes first.
        MarbleCase("skip(until:) at the same time", "-a|") {
            try $0.cold("-a|").skip(until: $0.coldNever("-x"))
        },
        MarbleCase("ignoreElements", "-----|") { try $0.cold("-a-b-|").ignoreElements(as: String.self) },
        MarbleCase("ignoreElements, error", "--#") {
            try $0.cold("-a#").ignoreElements().collect().map { _ in "x" }
        },
    ]

    static let empty = [
        MarbleCase("ifEmpty(default:)", "---(x|)") { try $0.cold("---|").ifEmpty(default: "x") },
        MarbleCase("ifEmpty(default:), not empty", "-a-|") { try $0.cold("-a-|").ifEmpty(default: "x") },
        MarbleCase("ifEmpty(default:), error", "-#") { try $0.cold("-#").ifEmpty(default: "x") },
        MarbleCase("ifEmpty(switchTo:)", "----b|") { try $0.cold("---|").ifEmpty(switchTo: $0.cold("-b|")) },
        MarbleCase("ifEmpty(switchTo:), not empty", "-a-|") {
            try $0.cold("-a-|").ifEmpty(switchTo: $0.cold("-b|"))
        },
        MarbleCase("ifEmpty(switchTo:), error after", "----#") {
            try $0.cold("---|").ifEmpty(switchTo: $0.cold("-#"))
        },
        MarbleCase("ifEmpty(fail:)", "---#") { try $0.cold("---|").ifEmpty(fail: Lost()) },
        MarbleCase("ifEmpty(fail:), not empty", "-a-|") { try $0.cold("-a-|").ifEmpty(fail: Lost()) },
    ]

    @Test(arguments: taking) func takingOperators(_ line: MarbleCase) throws { try line.check() }
    @Test(arguments: skipping) func skippingOperators(_ line: MarbleCase) throws { try line.check() }
    @Test(arguments: empty) func emptyOperators(_ line: MarbleCase) throws { try line.check() }

    @Test(arguments: [
        // marbles, notifier, the end of the notifier's subscription
        ("-a-b-c-|", "---x---", "^--!"), ("-a-b-c-|", "---|", "^--!"), ("-a-b-c-|", "", "^------!"),
        ("-a#", "", "^-!"),
    ])
    func theNotifierIsLeft(_ marbles: String, _ notice: String, _ span: String) throws {
        let clock = VirtualScheduler()
        let notifier: MarbleSource<String, Never> = try clock.cold(notice)
        try clock.cold(marbles).skip(until: notifier.observable).subscribe()
        try clock.run()
        #expect(try notifier.subscriptions == [SubscriptionSpan(span)])
    }

    @Test func firstWhereStopsTheSource() {
        let seen = Log<Int>()
        Observable<Int, Never>.sequence(1...).first(where: { $0 > 4 }).subscribe { seen.add($0) }
        #expect(seen.entries == [5])
    }

    @Test func theLastValuesWaitForAPausedSubscriber() {
        let seen = Log<Int>()
        let subscription = Observable<Int, Never>.sequence(1...9).takeLast(3)
            .subscribePausing(inValue: 1) { seen.add($0) }
        #expect(seen.entries == [7])
        subscription.resume()
        #expect(seen.entries == [7, 8, 9])
    }

    @Test(arguments: [false, true])
    func takeWhileStopsTheSource(_ inclusive: Bool) {
        let seen = Log<Int>()
        Observable<Int, Never>.sequence(1...).take(while: { $0 < 3 }, inclusive: inclusive)
            .subscribe { seen.add($0) }
        #expect(seen.entries == (inclusive ? [1, 2, 3] : [1, 2]))
    }
}
