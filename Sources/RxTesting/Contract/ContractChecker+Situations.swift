import RxLite

extension ContractChecker {
    /// Pausing must stop sources that can wait, and change nothing else.
    static func pauses<Output, Failure>(
        _ apply: @escaping Application<Output, Failure>, source index: Int, isEager: Bool
    ) -> [ContractViolation] {
        let name = sources(ContractProbe(""), VirtualScheduler())[index].name
        let plain = ContractProbe(name)
        run(apply, source: index, plain) { $0.start() }

        let before = ContractProbe("\(name), paused before the start, then resumed")
        run(apply, source: index, before) { consumer in
            consumer.pause()
            consumer.start()
            if before.sent > 0 && !isEager {
                before.report(.brake, "\(before.sent) values were taken while paused")
            }
            consumer.resume()
        }
        let within = ContractProbe("\(name), paused and resumed from within value 2")
        run(apply, source: index, within) { consumer in
            consumer.pausesInValue = 2
            consumer.start()
        }
        for probe in [before, within] where probe.outcome != plain.outcome {
            probe.report(.sameAfterPause, "\(probe.outcome) instead of \(plain.outcome)")
        }
        return before.violations + within.violations
    }

    static func run<Output, Failure>(
        _ apply: @escaping Application<Output, Failure>, source index: Int, _ probe: ContractProbe,
        _ start: (Consumer<Output, Failure>) -> Void
    ) {
        let clock = VirtualScheduler()
        let consumer = Consumer(apply(sources(probe, clock)[index].source, clock), probe)
        start(consumer)
        do { try clock.advance(by: patience) } catch { probe.report(.endsInVirtualTime, "\(error)") }
        consumer.leave()
    }

    /// Sends values from several tasks at once, with a cancel in between.
    static func threads<Output, Failure>(
        _ apply: @escaping Application<Output, Failure>
    ) async -> [ContractViolation] {
        var violations: [ContractViolation] = []
        for departure in [Int.max, 100] {
            let clock = VirtualScheduler()
            let leaving = departure == .max ? "never cancelled" : "cancelled in value \(departure)"
            let probe = ContractProbe("source on 4 threads, \(leaving)")
            let signal = Signal<ContractElement>()
            let source = Observable<ContractElement, ContractFailure> { observer in
                probe.open(observer.scope)
                signal.observable.setFailureType().subscribe(observer)
            }
            let consumer = Consumer(apply(source, clock), probe)
            consumer.leavesInValue = departure
            consumer.start()
            await withTaskGroup(of: Void.self) { group in
                for _ in 0..<4 {
                    group.addTask {
                        for number in 0..<500 { signal.send(ContractElement(number, probe)) }
                    }
                }
            }
            do { try clock.advance(by: patience) } catch { probe.report(.endsInVirtualTime, "\(error)") }
            consumer.leave()
            do { try clock.advance(by: .zero) } catch { probe.report(.endsInVirtualTime, "\(error)") }
            if probe.untorn != 0 { probe.report(.teardown, "\(probe.untorn) sources were not torn down") }
            violations += probe.violations
        }
        return violations
    }
}
