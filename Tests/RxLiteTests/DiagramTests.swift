import RxLite
import RxTesting
import Testing

/// The marble diagrams with times in the operators' doc comments.
@Suite struct DiagramTests {
    static let flattening: [MarbleCase] =
        [
            (FlattenStrategy.merge, "---a--a---b--bc--c|"), (.concat, "---a--a---b--b--c--c|"),
            (.latest, "---a--a---b---c--c|"), (.first, "---a--a---b--b|"),
        ].map { strategy, expected in
            MarbleCase("flatMap(\(strategy))", expected) { clock in
                let inner = try ["a", "b", "c"].map { try clock.cold("--\($0)--\($0)|") }
                return try clock.cold("-a------b---c-|").flatMap(strategy) { letter in
                    inner[letter == "a" ? 0 : letter == "b" ? 1 : 2]
                }
            }
        }

    static let errors = [
        MarbleCase("retry(2)", "--1--1--1#") { try $0.cold("--1#").retry(2) },
        MarbleCase("retry after 3 ms, once", "--1-----1#") { clock in
            try clock.cold("--1#").retry(
                RetryPolicy { _, history in history.count == 0 ? .milliseconds(3) : nil },
                on: clock)
        },
        MarbleCase("retry(when:)", "--1------1-|") { clock in
            let notices = try clock.coldNever("----x---|")
            return try clock.cold("--1#").retry(when: { _ in notices.setFailureType(to: Lost.self) })
        },
        MarbleCase("timeout", "--1----#") { clock in
            try clock.cold("--1------2-|").timeout(.milliseconds(7), on: clock) { Lost() }
        },
        MarbleCase("timeout(until: .nextValue)", "--1---#") { clock in
            try clock.cold("--1------2-|").timeout(.milliseconds(4), until: .nextValue, on: clock) { Lost() }
        },
        MarbleCase("timeout(until: .firstValue)", "--1------2-|") { clock in
            try clock.cold("--1------2-|").timeout(.milliseconds(4), until: .firstValue, on: clock) { Lost() }
        },
    ]

    static let others = [
        MarbleCase("concat", "--1--2-3--4|") { try .concat([$0.cold("--1--2|"), $0.cold("-3--4|")]) },
        MarbleCase("compactMap", "--1-----3--|") {
            try $0.cold("--1--x--3--|").compactMap { $0 == "x" ? nil : $0 }
        },
        MarbleCase("startWith", "(12)--3--4--|") { try $0.cold("------3--4--|").startWith("1", "2") },
        MarbleCase("delay", "----1--2-|") { try $0.cold("-1--2-|").delay(.milliseconds(3), on: $0) },
        MarbleCase("timer", "---(x|)") { clock in
            Observable<Void, Lost>.timer(.milliseconds(3), on: clock).map { "x" }
        },
        MarbleCase("buffer(count:time:)", "--A---B---C(D|)") { clock in
            let letters = [["1", "2"]: "A", ["3"]: "B", ["4"]: "C", []: "D"]
            return try clock.cold("-123-----4-|").buffer(count: 2, time: .milliseconds(4), on: clock)
                .map { letters[$0] ?? "?" }
        },
        MarbleCase("share, subscribed later", "-2--3--|") { clock in
            let shared = try clock.cold("--1--2--3--|").share()
            shared.subscribe()
            try clock.advance(to: .milliseconds(4))
            return shared
        },
        MarbleCase("share(replay: 1), subscribed later", "1-2--3--|") { clock in
            let shared = try clock.cold("--1--2--3--|").share(replay: 1)
            shared.subscribe()
            try clock.advance(to: .milliseconds(3))
            return shared
        },
        MarbleCase("share(keepingAlive: 4 ms), joined again", "-2--3--|") { clock in
            let shared = try clock.cold("--1--2--3--|").share(keepingAlive: .milliseconds(4), on: clock)
            let first = shared.subscribe()
            try clock.advance(to: .milliseconds(3))
            first.cancel()
            try clock.advance(to: .milliseconds(4))
            return shared
        },
        MarbleCase("share(when:), joined again", "-2--3--4--|") { clock in
            let notices = try clock.coldNever("----x")
            let shared = try clock.cold("--1--2--3--4--|").share(when: { _ in notices })
            let first = shared.subscribe()
            try clock.advance(to: .milliseconds(3))
            first.cancel()
            try clock.advance(to: .milliseconds(4))
            return shared
        },
    ]

    @Test(arguments: flattening + errors + others) func diagrams(_ line: MarbleCase) throws {
        try line.check()
    }
}
