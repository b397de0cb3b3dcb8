import RxLite
import RxTesting
import Synchronization
import Testing

/// The checker finds the violations that it is made for.
@Suite struct ContractCheckerTests {
    typealias Stream = Observable<ContractElement, any Error>

    struct Broken: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let rule: ContractViolation.Rule
        let apply: ContractChecker.Application<ContractElement, any Error>

        init(
            _ rule: ContractViolation.Rule, _ name: String,
            _ apply: @escaping ContractChecker.Application<ContractElement, any Error>
        ) {
            testDescription = name
            self.rule = rule
            self.apply = apply
        }
    }

    private static func adapt(
        _ source: Stream,
        _ adapt:
            @escaping @Sendable (Observer<ContractElement, any Error>) -> Observer<
                ContractElement, any Error
            >
    ) -> Stream {
        Stream(scheduler: source.scheduler) { source.subscribe(adapt($0)) }
    }

    static let broken = [
        Broken(.oneEnd, "ends twice") { source, _ in
            adapt(source) { observer in
                Observer(
                    scope: observer.scope, next: observer.next,
                    end: { completion in
                        observer.end(completion)
                        observer.end(completion)
                    })
            }
        },
        Broken(.nothingAfterEnd, "repeats its last value after the end") { source, _ in
            adapt(source) { observer in
                let last = Mutex2<ContractElement?>(nil)
                return Observer(
                    scope: observer.scope,
                    next: { value in
                        last.set(value)
                        observer.next(value)
                    },
                    end: { completion in
                        observer.end(completion)
                        last.take().map(observer.next)
                    })
            }
        },
        Broken(.silentAfterCancel, "sends each value twice without looking") { source, _ in
            adapt(source) { observer in
                Observer(
                    scope: observer.scope,
                    next: { value in
                        observer.next(value)
                        observer.next(value)
                    }, end: observer.end)
            }
        },
        Broken(.teardown, "gives the source a scope that is never closed") { source, _ in
            adapt(source) { observer in
                Observer(
                    scope: Scope(lane: observer.scope.lane),
                    next: { if observer.scope.isOpen { observer.next($0) } },
                    end: { if observer.scope.isOpen { observer.end($0) } })
            }
        },
        Broken(.backpressure, "delivers the end later, without looking for a pause") { source, clock in
            adapt(source) { observer in
                let scope = observer.scope.child()
                let timer = OperatorTimer(clock, in: observer.scope)
                return Observer(
                    scope: scope, next: observer.next,
                    end: { completion in
                        scope.close()
                        timer.set(after: .milliseconds(20)) { observer.end(completion) }
                    })
            }
        },
        Broken(.noTimersLeft, "forgets its timer") { source, clock in
            adapt(source) { observer in
                _ = clock.schedule(after: .seconds(1_000_000)) {}
                return observer
            }
        },
        Broken(.nothingAlive, "keeps its values") { source, _ in
            let kept = Mutex2<[ContractElement]>([])
            forever.withLock { $0.append(kept) }
            return adapt(source) { observer in
                Observer(
                    scope: observer.scope,
                    next: { value in
                        kept.change { $0.append(value) }
                        observer.next(value)
                    }, end: observer.end)
            }
        },
        Broken(.stopsEarly, "collects before it delivers") { source, _ in
            adapt(source) { observer in
                let kept = Mutex2<[ContractElement]>([])
                return Observer(
                    scope: observer.scope, next: { value in kept.change { $0.append(value) } },
                    end: { completion in
                        for value in kept.take([]) where observer.scope.isOpen { observer.next(value) }
                        if observer.scope.isOpen { observer.end(completion) }
                    })
            }
        },
        Broken(.backpressure, "subscribes again, so that backpressure is lost") { source, _ in
            Stream { observer in
                let subscription = source.subscribe(
                    onNext: { value in observer.scope.enter { observer.next(value) } },
                    onEnd: { completion in observer.scope.enter { observer.end(completion) } })
                observer.scope.onClose { subscription.cancel() }
            }
        },
        Broken(.sameAfterPause, "drops values while it is paused") { source, _ in
            adapt(source) { observer in
                guard observer.scope.isPaused else { return observer }
                return Observer(scope: observer.scope, next: { _ in }, end: observer.end)
            }
        },
        Broken(.serial, "sends its last value again on resumption") { source, _ in
            adapt(source) { observer in
                let last = Mutex2<ContractElement?>(nil)
                observer.scope.onResume { last.take().map(observer.next) }
                return Observer(
                    scope: observer.scope,
                    next: { value in
                        last.set(value)
                        observer.next(value)
                    }, end: observer.end)
            }
        },
    ]

    private static let forever = Mutex<[Mutex2<[ContractElement]>]>([])

    @Test(arguments: broken)
    func findsTheFault(_ broken: Broken) async {
        let violations = await ContractChecker.violations(broken.apply)
        #expect(violations.contains { $0.rule == broken.rule }, "\(violations)")
    }

    @Test func findsNothingWrongWithTheSourceItself() async {
        #expect(await ContractChecker.violations { source, _ in source } == [])
    }
}

/// A value that closures share.
private final class Mutex2<Value: Sendable>: Sendable {
    private let value: Mutex<Value>
    init(_ value: Value) { self.value = Mutex(value) }
    func set(_ new: Value) { value.withLock { $0 = new } }
    func change(_ body: (inout Value) -> Void) { value.withLock { body(&$0) } }
    func take(_ new: Value) -> Value {
        value.withLock { value in
            defer { value = new }
            return value
        }
    }
    func take<Wrapped>() -> Value where Value == Wrapped? { take(nil) }
}
