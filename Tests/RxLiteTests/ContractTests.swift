import RxLite
import RxTesting
import Testing

/// Every operator, in every situation of the checker.
@Suite struct ContractTests {
    struct Operator: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let violations: @Sendable () async -> [ContractViolation]

        init<Output: Sendable, Failure: Error>(
            _ name: String, isEager: Bool = false, isDeferred: Bool = false, isLimited: Bool = false,
            _ apply: @escaping ContractChecker.Application<Output, Failure>
        ) {
            testDescription = name
            violations = {
                await ContractChecker.violations(
                    isEager: isEager, isDeferred: isDeferred, isLimited: isLimited, apply)
            }
        }
    }

    typealias Element = ContractElement
    typealias Failure = any Error

    /// An error of an operator.
    struct Refusal: Error {}

    static let operators: [Operator] =
        linear + early + flattening + timed + shared
        + transforming + limiting + recovering + watching + combining + waiting + noticed + grouped

    static let linear = [
        Operator("source alone") { source, _ in source },
        Operator("map") { source, _ in source.map(\.number) },
        Operator("map throwing") { source, _ in
            source.map { element throws(Failure) in
                guard element.number < 2 else { throw Refusal() }
                return element
            }
        },
        Operator("filter") { source, _ in source.filter { $0.number != 1 } },
        Operator("compactMap") { source, _ in source.compactMap { $0.number == 1 ? nil : $0 } },
        Operator("scan") { source, _ in source.scan([Element]()) { $0 + [$1] } },
        Operator("mapError") { source, _ in source.mapError { _ in OtherError() } },
        Operator("setFailureType") { source, _ in
            source.catch { _ in Observable<Element, Never>.empty() }.setFailureType(to: OtherError.self)
        },
        Operator("handleEvents") { source, _ in source.handleEvents(onNext: { _ in }) },
        Operator("deferred") { source, _ in .deferred { () throws(Failure) in source } },
        Operator("startWith") { source, _ in source.map(\.number).startWith(-2, -1) },
        Operator("withLatestFrom just") { source, _ in source.withLatestFrom(Observable<Int, Never>.just(1))
        },
        Operator("withLatestFrom never") { source, _ in source.withLatestFrom(Observable<Int, Never>.never())
        },
        // After a pause, two sources of one subscription resume in the order in which they were started.
        Operator("zip with numbers") { source, _ in
            Observable.zip(source, Observable<Int, Failure>.sequence(0...)).map { $0.0 }
        },
        Operator("withLatestFrom timer") { source, clock in
            source.withLatestFrom(.timer(.seconds(2), on: clock))
        },
    ]

    static let early = [
        Operator("take 0") { source, _ in source.take(0) },
        Operator("take 1") { source, _ in source.take(1) },
        Operator("take 3") { source, _ in source.take(3) },
        Operator("take until just") { source, _ in source.take(until: Observable<Int, Never>.just(1)) },
        Operator("take until never") { source, _ in source.take(until: Observable<Int, Never>.never()) },
        Operator("take until empty") { source, _ in source.take(until: Observable<Int, Never>.empty()) },
        Operator("take until timer") { source, clock in source.take(until: .timer(.seconds(2), on: clock)) },
        Operator("catch just") { source, _ in
            source.map(\.number).catch { _ in Observable<Int, Never>.just(9) }
        },
        Operator("catch the source again") { source, _ in source.catch { _ in source } },
        Operator("catch, take 1") { source, _ in source.catch { _ in source }.take(1) },
        Operator("retry 2") { source, _ in source.retry(2) },
        Operator("retry with waits") { source, clock in
            source.retry(
                RetryPolicy { _, history in history.count < 3 ? .milliseconds(700) : nil },
                on: clock)
        },
    ]

    static let flattening =
        [FlattenStrategy.merge, .merge(limit: 2), .concat, .latest, .first].flatMap { strategy in
            [
                Operator("flatMap(\(strategy)) to just") { source, _ in
                    source.flatMap(strategy) { .just($0) }
                },
                Operator("flatMap(\(strategy)) to sequence") { source, _ in
                    source.flatMap(strategy) { .sequence([$0, $0, $0]) }
                },
                Operator("flatMap(\(strategy)) to timer", isEager: true, isDeferred: true) { source, clock in
                    source.flatMap(strategy) { element in
                        Observable.timer(.milliseconds(600), on: clock).map { element }
                    }
                },
                Operator("flatMap(\(strategy)) to fail") { source, _ in
                    source.flatMap(strategy) { element in
                        element.number == 2 ? .fail(Refusal()) : Observable<Element, Failure>.just(element)
                    }
                },
                Operator("flatMap(\(strategy)) to never") { source, _ in
                    source.flatMap(strategy) { _ in Observable<Element, Failure>.never() }
                },
                Operator("flatMap(\(strategy)) to itself", isLimited: strategy.isLimited) { source, _ in
                    source.flatMap(strategy) { _ in source }
                },
            ]
        } + [
            Operator("concat") { source, _ in .concat([source, source, source]) },
            Operator("merge") { source, _ in .merge(source, source) },
            Operator("merge with never, take 2") { source, _ in source.merge(with: .never()).take(2) },
        ]

    static let timed = [
        Operator("delay", isDeferred: true) { source, clock in source.delay(.milliseconds(700), on: clock) },
        Operator("timeout until the end") { source, clock in
            source.timeout(.milliseconds(3200), on: clock) { Refusal() }
        },
        Operator("timeout until the first value") { source, clock in
            source.timeout(.milliseconds(900), until: .firstValue, on: clock) { Refusal() }
        },
        Operator("timeout until the next value") { source, clock in
            source.timeout(.milliseconds(1200), until: .nextValue, on: clock) { Refusal() }
        },
        Operator("observe(on:)", isEager: true) { source, clock in source.observe(on: clock) },
        Operator("observe(on:), take 2", isEager: true) { source, clock in source.observe(on: clock).take(2)
        },
        Operator("observe(on:) twice", isEager: true) { source, clock in
            source.observe(on: clock).map(\.number).observe(on: clock)
        },
        Operator("flatMap of observe(on:)", isEager: true) { source, clock in
            source.flatMap(.concat) { .just($0).observe(on: clock) }
        },
    ]

    static let shared = [
        Operator("share") { source, _ in source.share() },
        Operator("share, replay 2") { source, _ in source.share(replay: 2) },
        Operator("share, buffering 3") { source, _ in source.share(buffering: .suspend(high: 3, low: 1)) },
        Operator("share, beside a paused subscriber") { source, _ in
            source.share(buffering: .latest(1)).besidePausedSubscriber()
        },
        Operator("share, merged with itself", isEager: true) { source, _ in
            let shared = source.share(replay: 1)
            return .merge(shared, shared)
        },
        Operator("share, take 2") { source, _ in source.share().take(2) },
        Operator("create in flatMap", isEager: true) { source, _ in
            source.flatMap(.concat) { element in
                Observable<Element, Failure>.create { emitter in
                    emitter.send(element)
                    emitter.finish()
                }
            }
        },
    ]

    static let transforming = [
        Operator("reduce", isDeferred: true) { source, _ in source.reduce([Element]()) { $0 + [$1] } },
        Operator("reduce throwing") { source, _ in
            source.reduce(0) { count, element throws(Failure) in
                guard element.number < 2 else { throw Refusal() }
                return count + 1
            }
        },
        Operator("collect", isDeferred: true) { source, _ in source.collect() },
        Operator("distinctUntilChanged") { source, _ in source.distinctUntilChanged() },
        Operator("distinctUntilChanged by key") { source, _ in
            source.distinctUntilChanged(by: { $0.number / 2 })
        },
        Operator("pairwise") { source, _ in source.pairwise() },
        Operator("expand to just") { source, _ in
            source.map(\.number).expand { $0 < 20 ? .just($0 + 7) : .empty() }
        },
        Operator("expand to sequence, limit 2") { source, _ in
            source.map(\.number).expand(limit: 2) { $0 < 6 ? .sequence([$0 + 3, $0 + 5]) : .empty() }
        },
        Operator("expand to timer", isEager: true) { source, clock in
            source.map(\.number).expand { number in
                number < 20
                    ? Observable<Void, Failure>.timer(.milliseconds(600), on: clock).map { number + 7 }
                    : .empty()
            }
        },
        Operator("expand to timer, limit 1", isEager: true, isDeferred: true) { source, clock in
            source.expand(limit: 1) { element in
                Observable<Void, Failure>.timer(.milliseconds(600), on: clock).filter { false }.map {
                    element
                }
            }
        },
        Operator("expand to fail") { source, _ in
            source.expand { $0.number == 2 ? .fail(Refusal()) : .empty() }
        },
        Operator("expand to itself once, limit 2", isLimited: true) { source, _ in
            source.map { (0, $0) }.expand(limit: 2) { generation, _ in
                generation == 0 ? source.map { (1, $0) } : .empty()
            }
            .map(\.1)
        },
        Operator("expand to itself, take 9") { source, _ in source.expand { _ in source }.take(9) },
    ]

    static let limiting = [
        Operator("take while") { source, _ in source.take(while: { $0.number < 2 }) },
        Operator("take while, inclusive") { source, _ in
            source.take(while: { $0.number < 2 }, inclusive: true)
        },
        Operator("take while throwing") { source, _ in
            source.take(while: { element throws(Failure) in
                guard element.number < 2 else { throw Refusal() }
                return true
            })
        },
        Operator("take for") { source, clock in source.take(for: .milliseconds(2500), on: clock) },
        Operator("last", isDeferred: true) { source, _ in source.last() },
        Operator("take last", isDeferred: true) { source, _ in source.takeLast(2) },
        Operator("take last 0") { source, _ in source.takeLast(0) },
        Operator("first where") { source, _ in source.first(where: { $0.number == 2 }) },
        Operator("skip") { source, _ in source.skip(2) },
        Operator("skip while") { source, _ in source.skip(while: { $0.number < 2 }) },
        Operator("skip until just") { source, _ in source.skip(until: Observable<Int, Never>.just(1)) },
        Operator("skip until never", isDeferred: true) { source, _ in
            source.skip(until: Observable<Int, Never>.never())
        },
        Operator("skip until timer", isDeferred: true) { source, clock in
            source.skip(until: .timer(.seconds(2), on: clock))
        },
        Operator("ignoreElements", isDeferred: true) { source, _ in source.ignoreElements() },
        Operator("if empty, default") { source, _ in source.map(\.number).ifEmpty(default: 9) },
        Operator("if empty, the source again") { source, _ in source.ifEmpty(switchTo: source) },
        Operator("if empty, fail") { source, _ in source.ifEmpty(fail: Refusal()) },
    ]

    static let grouped = [
        Operator("group by") { source, _ in source.groupBy { $0.number }.map(\.key) },
        Operator("group by, merged") { source, _ in
            source.groupBy { $0.number % 2 }.flatMap { $0.observable }
        },
        Operator("group by, each key once") { source, _ in
            source.groupBy { $0.number }.flatMap { $0.observable }
        },
        Operator("group by, take 1 of each") { source, _ in
            source.groupBy { $0.number % 2 }.flatMap { $0.observable.take(1) }.take(2)
        },
        Operator("group by, one group") { source, _ in
            source.groupBy { $0.number % 2 }.take(1).flatMap { $0.observable }
        },
        Operator("group by, on a clock", isEager: true) { source, clock in
            source.groupBy { $0.number % 2 }.flatMap { $0.observable.observe(on: clock) }
        },
    ]

    static let recovering = [
        Operator("replaceError") { source, _ in source.map(\.number).replaceError(with: 9) },
        Operator("materialize") { source, _ in source.materialize() },
        Operator("dematerialize") { source, _ in source.materialize().dematerialize() },
        Operator("dematerialize, end in between") { source, _ in
            source.map { $0.number == 2 ? StreamEvent.end(.finished) : .next($0) }.dematerialize()
        },
        Operator("asResult") { source, _ in source.asResult() },
        Operator("retry when, twice") { source, _ in source.retry(when: { $0.take(3) }) },
        Operator("retry when, delayed") { source, clock in
            source.retry(when: { $0.delay(.milliseconds(700), on: clock).take(3) })
        },
        Operator("retry when never") { source, _ in
            source.retry(when: { _ in Observable<Int, Never>.never() })
        },
        Operator("retry when just") { source, _ in
            source.retry(when: { _ in Observable<Int, Never>.just(1) })
        },
        Operator("repeat 3", isLimited: true) { source, _ in source.repeat(3) },
        Operator("repeat 3 with waits", isLimited: true) { source, clock in
            source.repeat(3, delay: .milliseconds(700), on: clock)
        },
        Operator("repeat, take 9") { source, _ in source.map(\.number).startWith(9).repeat().take(9) },
    ]

    static let watching = [
        Operator("finally") { source, _ in source.finally {} },
        Operator("debug") { source, _ in source.debug("source", to: { _ in }) },
        Operator("subscribe(on:)") { source, clock in source.subscribe(on: clock) },
        Operator("subscribe(on:) in flatMap", isEager: true) { source, clock in
            source.flatMap(.concat) { .just($0).subscribe(on: clock) }
        },
        Operator("subscribe(on:), joined", isEager: true) { source, clock in
            Observable.just(1).flatMap { _ in source.subscribe(on: clock) }
        },
    ]

    @Test(arguments: operators)
    func keepsTheContract(_ operator: Operator) async {
        let violations = await `operator`.violations()
        #expect(violations.isEmpty, "\(violations.map(\.description).joined(separator: "\n"))")
    }
}

extension FlattenStrategy {
    /// Whether it begins no stream while its subscriber is paused.
    fileprivate var isLimited: Bool {
        if case .merge(let limit) = self { limit != .max } else { false }
    }
}

struct OtherError: Error, Equatable {}
