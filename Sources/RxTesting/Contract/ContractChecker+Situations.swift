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
            consumer.scope.pause()
            consumer.start()
            if before.sent > 0 && !isEager {
                before.report(.brake, "\(before.sent) values were taken while paused")
            }
            let scope = consumer.scope
            scope.lane.enter { scope.resume() }
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

    /// A pause that lasts must stop a source that sends at once and without end, whatever stands between; one that
    /// ends must go on from there.
    static func lastingPause<Output, Failure>(
        _ apply: @escaping Application<Output, Failure>, isEager: Bool
    ) -> [ContractViolation] {
        // More than any buffer holds.
        let limit = 600
        func run(_ situation: String, _ pause: (Consumer<Output, Failure>, VirtualScheduler) throws -> Void)
            -> ContractProbe
        {
            let probe = ContractProbe("source of \(limit), \(situation)")
            let clock = VirtualScheduler()
            let consumer = Consumer(apply(immediate(limit, .finished, probe), clock), probe)
            do {
                try pause(consumer, clock)
                try clock.advance(by: patience)
            } catch {
                probe.report(.endsInVirtualTime, "\(error)")
            }
            consumer.leave()
            return probe
        }

        let plain = run("never paused") { consumer, _ in consumer.start() }
        let lasting = run("paused in value 2") { consumer, clock in
            consumer.staysPausedFromValue = 2
            consumer.start()
            try clock.advance(by: patience)
            let (sent, before) = (consumer.probe.sent, consumer.sentAtPause)
            guard let before, isEager ? sent == limit && before < limit : sent > before else { return }
            consumer.probe.report(.brake, "\(sent - before) values were taken while paused")
        }
        let ending = run("paused in value 2, then resumed") { consumer, clock in
            consumer.staysPausedFromValue = 2
            consumer.start()
            let scope = consumer.scope
            for _ in 0..<100 where !scope.isPaused && scope.isOpen {
                try clock.advance(by: .milliseconds(100))
            }
            scope.lane.enter { scope.resume() }
        }
        if ending.outcome != plain.outcome {
            ending.report(.sameAfterPause, "\(ending.outcome) instead of \(plain.outcome)")
        }
        return lasting.violations + ending.violations
    }

    private static func run<Output, Failure>(
        _ apply: @escaping Application<Output, Failure>, source index: Int, _ probe: ContractProbe,
        _ start: (Consumer<Output, Failure>) -> Void
    ) {
        let clock = VirtualScheduler()
        let consumer = Consumer(apply(sources(probe, clock)[index].source, clock), probe)
        start(consumer)
        do { try clock.advance(by: patience) } catch { probe.report(.endsInVirtualTime, "\(error)") }
        consumer.leave()
    }

    /// Leaving must stop a source that sends at once and without end. A source that nobody stops gives up after
    /// a while, so that the check itself ends.
    static func earlyStop<Output, Failure>(
        _ apply: @escaping Application<Output, Failure>, isDeferred: Bool
    ) -> [ContractViolation] {
        [1, 2, 10].flatMap { count -> [ContractViolation] in
            let clock = VirtualScheduler()
            let limit = 10_000
            let probe = ContractProbe("source without end, cancelled in value \(count)")
            let consumer = Consumer(apply(immediate(limit, .finished, probe), clock), probe)
            consumer.leavesInValue = count
            consumer.start()
            do { try clock.advance(by: patience) } catch { probe.report(.endsInVirtualTime, "\(error)") }
            if probe.sentAfterClose > 0 {
                probe.report(.stopsEarly, "\(probe.sentAfterClose) values were taken after the cancel")
            } else if probe.sent >= limit && probe.valueCount >= count && !isDeferred {
                probe.report(.stopsEarly, "the cancel came only after all \(limit) values were taken")
            }
            consumer.leave()
            return probe.violations
        }
    }

    /// Values from several tasks at once, and a cancel in the midst of them.
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
