import RxLite
import RxTesting
import Testing

/// Every operator, in every situation that the checker knows.
@Suite struct ContractTests {
    struct Operator: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let violations: @Sendable () async -> [ContractViolation]

        init<Output: Sendable, Failure: Error>(
            _ name: String, isEager: Bool = false, isDeferred: Bool = false,
            _ apply: @escaping ContractChecker.Application<Output, Failure>
        ) {
            testDescription = name
            violations = { await ContractChecker.violations(isEager: isEager, isDeferred: isDeferred, apply) }
        }
    }

    typealias Element = ContractElement
    typealias Failure = ContractFailure

    static let operators: [Operator] =
        linear + early + flattening + timed + shared + combining + waiting

    static let linear = [
        Operator("source alone") { source, _ in source },
        Operator("map") { source, _ in source.map(\.number) },
        Operator("map throwing") { source, _ in
            source.map { element throws(Failure) in
                guard element.number < 2 else { throw Failure() }
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
                RetryPolicy { _, retries in retries < 3 ? .retry(after: .milliseconds(700)) : .stop },
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
                        element.number == 2 ? .fail(Failure()) : Observable<Element, Failure>.just(element)
                    }
                },
                Operator("flatMap(\(strategy)) to never") { source, _ in
                    source.flatMap(strategy) { _ in Observable<Element, Failure>.never() }
                },
                Operator("flatMap(\(strategy)) to itself") { source, _ in
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
            source.timeout(.milliseconds(3200), on: clock) { Failure() }
        },
        Operator("timeout until the first value") { source, clock in
            source.timeout(.milliseconds(900), until: .firstValue, on: clock) { Failure() }
        },
        Operator("timeout until the next value") { source, clock in
            source.timeout(.milliseconds(1200), until: .nextValue, on: clock) { Failure() }
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
        Operator("share", isEager: true) { source, _ in source.share() },
        Operator("share, replay 2", isEager: true) { source, _ in source.share(replay: 2) },
        Operator("share, merged with itself", isEager: true) { source, _ in
            let shared = source.share(replay: 1)
            return .merge(shared, shared)
        },
        Operator("share, take 2", isEager: true) { source, _ in source.share().take(2) },
        Operator("create in flatMap", isEager: true) { source, _ in
            source.flatMap(.concat) { element in
                Observable<Element, Failure>.create { emitter in
                    emitter.send(element)
                    emitter.finish()
                }
            }
        },
    ]

    @Test(arguments: operators)
    func keepsTheContract(_ operator: Operator) async {
        let violations = await `operator`.violations()
        #expect(violations.isEmpty, "\(violations.map(\.description).joined(separator: "\n"))")
    }
}

struct OtherError: Error, Equatable {}
