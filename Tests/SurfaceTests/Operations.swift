import RxNetworking
import RxTesting

struct Lost: Error, Equatable, CustomStringConvertible {
    var description: String { "lost" }
}

/// The code behind the lines of the diagrams, by their names.
enum Operations {
    typealias Stream = Observable<String, Lost>
    typealias Operation = @Sendable ([Stream], VirtualScheduler) -> Stream

    static let all = [beginning, transforming, combining, limiting, recovering, timing, watching]
        .reduce([:]) { $0.merging($1) { one, _ in one } }

    static let beginning: [String: Operation] = [
        #"just("a")"#: { _, _ in .just("a") },
        "empty()": { _, _ in .empty() },
        "fail(Lost())": { _, _ in .fail(Lost()) },
        "never()": { _, _ in .never() },
        #"sequence(["a", "b", "c"])"#: { _, _ in .sequence(["a", "b", "c"]) },
        "deferred { source }": { _, _ in .deferred { .just("a") } },
        "create { emitter in … }": { _, clock in
            .create { emitter in
                _ = clock.schedule(after: .milliseconds(2)) { emitter.send("a") }
                _ = clock.schedule(after: .milliseconds(4)) { emitter.send("b") }
                _ = clock.schedule(after: .milliseconds(5)) { emitter.finish() }
            }
        },
        "timer(3 ms)": { _, clock in Observable<Void, Lost>.timer(.milliseconds(3), on: clock).map { "x" } },
        "interval(3 ms)": { _, clock in
            Observable<Int, Lost>.interval(.milliseconds(3), on: clock).map { "\($0)" }
        },
    ]

    static let transforming: [String: Operation] = [
        "map { $0.uppercased() }": { sources, _ in sources[0].map { $0.uppercased() } },
        #"compactMap { $0 == "b" ? nil : $0 }"#: { sources, _ in
            sources[0].compactMap { $0 == "b" ? nil : $0 }
        },
        #"filter { $0 > "a" }"#: { sources, _ in sources[0].filter { $0 > "a" } },
        #"scan("") { $0 + $1 }"#: { sources, _ in sources[0].scan("") { $0 + $1 } },
        #"reduce("") { $0 + $1 }"#: { sources, _ in sources[0].reduce("") { $0 + $1 } },
        "collect()": { sources, _ in sources[0].collect().map { $0.joined() } },
        "pairwise()": { sources, _ in sources[0].pairwise().map { $0.previous + $0.current } },
        #"startWith("z")"#: { sources, _ in sources[0].startWith("z") },
        "distinctUntilChanged()": { sources, _ in sources[0].distinctUntilChanged() },
        "distinctUntilChanged(by: key)": { sources, _ in
            sources[0].distinctUntilChanged(by: { $0.lowercased() })
        },
        "distinctUntilChanged(by: equal)": { sources, _ in
            sources[0].distinctUntilChanged(by: { $0.lowercased() == $1.lowercased() })
        },
        "groupBy { $0 }.flatMap { … }": { sources, _ in
            sources[0].groupBy { $0 }.flatMap { group in group.observable }
        },
        "flatMap { … }": { sources, _ in sources[0].flatMap { value in sources[1].map { _ in value } } },
        "flatMap(.merge(limit: 2)) { … }": { sources, _ in
            sources[0].flatMap(.merge(limit: 2)) { value in sources[1].map { _ in value } }
        },
        "flatMap(.concat) { … }": { sources, _ in
            sources[0].flatMap(.concat) { value in sources[1].map { _ in value } }
        },
        "flatMap(.latest) { … }": { sources, _ in
            sources[0].flatMap(.latest) { value in sources[1].map { _ in value } }
        },
        "flatMap(.first) { … }": { sources, _ in
            sources[0].flatMap(.first) { value in sources[1].map { _ in value } }
        },
        "expand { … }": { sources, _ in
            sources[0].expand { value in ["a": sources[1], "b": sources[2]][value] ?? .empty() }
        },
    ]

    static let combining: [String: Operation] = [
        "merge(one, other)": { sources, _ in .merge(sources[0], sources[1]) },
        "one.merge(with: other)": { sources, _ in sources[0].merge(with: sources[1]) },
        "concat([one, other])": { sources, _ in .concat(sources) },
        "zip(one, other)": { sources, _ in
            Observable.zip(sources[0], sources[1]).map { one, other in one + other }
        },
        "combineLatest(one, other)": { sources, _ in
            Observable.combineLatest(sources[0], sources[1]).map { one, other in one + other }
        },
        "race(one, other)": { sources, _ in .race(sources[0], sources[1]) },
        "one.withLatestFrom(other)": { sources, _ in sources[0].withLatestFrom(sources[1]) },
        "one.withLatestFrom(other) { … }": { sources, _ in
            sources[0].withLatestFrom(sources[1]) { $0 + $1 }
        },
        "one.buffer(by: other)": { sources, _ in
            sources[0].buffer(by: sources[1].neverFailing()).map { $0.joined() }
        },
        "one.sample(by: other)": { sources, _ in sources[0].sample(by: sources[1]) },
    ]

    static let limiting: [String: Operation] = [
        "take(1)": { sources, _ in sources[0].take(1) },
        "take(2)": { sources, _ in sources[0].take(2) },
        #"take(while: { $0 < "b" })"#: { sources, _ in sources[0].take(while: { $0 < "b" }) },
        #"take(while: { $0 < "b" }, inclusive: true)"#: { sources, _ in
            sources[0].take(while: { $0 < "b" }, inclusive: true)
        },
        "take(until: other)": { sources, _ in sources[0].take(until: sources[1].neverFailing()) },
        "take(for: 5 ms)": { sources, _ in sources[0].take(for: .milliseconds(5)) },
        #"first(where: { $0 > "a" })"#: { sources, _ in sources[0].first(where: { $0 > "a" }) },
        "last()": { sources, _ in sources[0].last() },
        "takeLast(2)": { sources, _ in sources[0].takeLast(2) },
        "skip(1)": { sources, _ in sources[0].skip(1) },
        #"skip(while: { $0 < "b" })"#: { sources, _ in sources[0].skip(while: { $0 < "b" }) },
        "skip(until: other)": { sources, _ in sources[0].skip(until: sources[1].neverFailing()) },
        "ignoreElements()": { sources, _ in sources[0].ignoreElements(as: String.self) },
        #"ifEmpty(default: "z")"#: { sources, _ in sources[0].ifEmpty(default: "z") },
        "ifEmpty(switchTo: other)": { sources, _ in sources[0].ifEmpty(switchTo: sources[1]) },
        "ifEmpty(fail: Lost())": { sources, _ in sources[0].ifEmpty(fail: Lost()) },
    ]

    static let recovering: [String: Operation] = [
        "catch { _ in other }": { sources, _ in sources[0].catch { _ in sources[1] } },
        #"replaceError(with: "z")"#: { sources, _ in sources[0].replaceError(with: "z").setFailureType() },
        "mapError { … }": { sources, _ in
            sources[0].mapError { "\($0)" as Described }.mapError { _ in Lost() }
        },
        "retry(1)": { sources, _ in sources[0].retry(1) },
        "retry(policy)": { sources, _ in
            sources[0].retry(
                RetryPolicy { _, history in history.count == 0 ? .milliseconds(1) : nil })
        },
        "retry(when: { $0.delay(4 ms) })": { sources, clock in
            sources[0].retry(when: { $0.delay(.milliseconds(4), on: clock) }).setFailureType()
        },
        "repeat(2)": { sources, _ in sources[0].repeat(2) },
        "repeat(2, delay: 3 ms)": { sources, _ in sources[0].repeat(2, delay: .milliseconds(3)) },
        "repeat(when: { $0.delay(3 ms) })": { sources, clock in
            sources[0].repeat(when: { $0.delay(.milliseconds(3), on: clock) })
        },
        "setFailureType()": { sources, _ in sources[0].neverFailing().setFailureType() },
        "asResult()": { sources, _ in sources[0].asResult().map(described).setFailureType() },
        "materialize()": { sources, _ in sources[0].materialize().map(described).setFailureType() },
        "materialize().dematerialize()": { sources, _ in sources[0].materialize().dematerialize() },
        "timeout(4 ms)": { sources, _ in sources[0].timeout(.milliseconds(4), error: { Lost() }) },
        "timeout(4 ms, until: .firstValue)": { sources, _ in
            sources[0].timeout(.milliseconds(4), until: .firstValue, error: { Lost() })
        },
        "timeout(4 ms, until: .nextValue)": { sources, _ in
            sources[0].timeout(.milliseconds(4), until: .nextValue, error: { Lost() })
        },
    ]

    static let timing: [String: Operation] = [
        "debounce(3 ms)": { sources, _ in sources[0].debounce(.milliseconds(3)) },
        "throttle(4 ms)": { sources, _ in sources[0].throttle(.milliseconds(4)) },
        "throttle(4 ms, trailing: true)": { sources, _ in
            sources[0].throttle(.milliseconds(4), trailing: true)
        },
        "throttle(4 ms, leading: false, trailing: true)": { sources, _ in
            sources[0].throttle(.milliseconds(4), leading: false, trailing: true)
        },
        "sample(every: 4 ms)": { sources, _ in sources[0].sample(every: .milliseconds(4)) },
        "delay(3 ms)": { sources, _ in sources[0].delay(.milliseconds(3)) },
        "buffer(count: 2)": { sources, _ in sources[0].buffer(count: 2).map { $0.joined() } },
        "buffer(count: 2, every: 1)": { sources, _ in
            sources[0].buffer(count: 2, every: 1).map { $0.joined() }
        },
        "buffer(time: 6 ms)": { sources, _ in
            sources[0].buffer(time: .milliseconds(6)).map { $0.joined() }
        },
        "buffer(count: 2, time: 6 ms)": { sources, _ in
            sources[0].buffer(count: 2, time: .milliseconds(6)).map { $0.joined() }
        },
    ]

    static let watching: [String: Operation] = [
        "share(), joined after 5 ms": { sources, clock in
            sources[0].share().joined(after: .milliseconds(5), on: clock)
        },
        "share(replay: 1), joined after 5 ms": { sources, clock in
            sources[0].share(replay: 1).joined(after: .milliseconds(5), on: clock)
        },
        "observe(on: scheduler)": { sources, clock in sources[0].observe(on: clock) },
        "subscribe(on: scheduler)": { sources, clock in sources[0].subscribe(on: clock) },
        "handleEvents(onNext: { … })": { sources, _ in sources[0].handleEvents(onNext: { _ in }) },
        "finally { … }": { sources, _ in sources[0].finally {} },
        #"debug("tea")"#: { sources, _ in sources[0].debug("tea", to: { _ in }) },
        #"inspected("tea")"#: { sources, _ in sources[0].inspected("tea") },
    ]

    /// An error of another type.
    struct Described: Error, ExpressibleByStringInterpolation {
        let text: String
        init(stringLiteral text: String) { self.text = text }
    }

    static func described(_ result: Result<String, Lost>) -> String {
        switch result {
        case .success(let value): "success(\(value))"
        case .failure(let error): "failure(\(error))"
        }
    }

    static func described(_ event: StreamEvent<String, Lost>) -> String {
        switch event {
        case .next(let value): "next(\(value))"
        case .end(.finished): "end(finished)"
        case .end(.failed(let error)): "end(failed(\(error)))"
        }
    }
}

extension Observable<String, Lost> {
    fileprivate func neverFailing() -> Observable<String, Never> {
        self.catch { _ in Observable<String, Never>.empty() }
    }

    /// The values for a second subscriber that joins `delay` after the first.
    fileprivate func joined(after delay: Duration, on clock: VirtualScheduler) -> Observable {
        .deferred {
            subscribe()
            return Observable<Void, Lost>.timer(delay, on: clock).flatMap { self }
        }
    }
}
