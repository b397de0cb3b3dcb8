import RxLite

extension ContractChecker {
    /// Where a source runs, seen from its consumer.
    enum SourceScheduler: String, CaseIterable, CustomStringConvertible {
        // The raw values are parts of the situations' texts.

        case here = ""
        case elsewhere = " on another scheduler"

        var description: String { rawValue }

        /// A consumer of `count` values that are sent at once.
        func consumer<Output, Failure>(
            of count: Int, _ apply: Application<Output, Failure>, _ probe: ContractProbe,
            _ clock: VirtualScheduler
        ) -> Consumer<Output, Failure> {
            switch self {
            case .here: Consumer(apply(immediate(count, .finished, probe), clock), probe)
            case .elsewhere:
                Consumer(
                    apply(immediate(count, .finished, probe, on: clock), clock), probe, on: Elsewhere(clock))
            }
        }
    }

    /// A lasting pause must stop a source that sends at once and without end, through any operator; after the
    /// end of a pause the source must continue where it stopped.
    static func lastingPause<Output, Failure>(
        _ apply: @escaping Application<Output, Failure>, isEager: Bool, _ source: SourceScheduler
    ) -> [ContractViolation] {
        // More than any buffer holds.
        let limit = 600
        func run(_ situation: String, _ pause: (Consumer<Output, Failure>, VirtualScheduler) throws -> Void)
            -> ContractProbe
        {
            let probe = ContractProbe("source of \(limit)\(source), \(situation)")
            let clock = VirtualScheduler()
            let consumer = source.consumer(of: limit, apply, probe, clock)
            do {
                try pause(consumer, clock)
                try clock.advance(by: patience)
            } catch {
                probe.report(.endsInVirtualTime, "\(error)")
            }
            consumer.cancel()
            return probe
        }

        let plain = run("never paused") { consumer, _ in consumer.start() }
        let lasting = run("paused in value 2") { consumer, clock in
            consumer.staysPausedFromValue = 2
            consumer.start()
            try clock.advance(by: patience)
            let (sent, before) = (consumer.probe.sent, consumer.sentAtPause)
            guard let before, isEager ? sent == limit && before < limit : sent > before else { return }
            consumer.probe.report(.backpressure, "\(sent - before) values were taken while paused")
        }
        let ending = run("paused in value 2, then resumed") { consumer, clock in
            consumer.staysPausedFromValue = 2
            consumer.start()
            try consumer.awaitPause(clock)
            consumer.resume()
        }
        if ending.outcome != plain.outcome {
            ending.report(.sameAfterPause, "\(ending.outcome) instead of \(plain.outcome)")
        }
        return lasting.violations + ending.violations
    }

    /// Cancelling must stop a source that sends at once and without end. A source that is not stopped gives
    /// up after a while, so that the check ends.
    static func earlyStop<Output, Failure>(
        _ apply: @escaping Application<Output, Failure>, isDeferred: Bool, _ source: SourceScheduler
    ) -> [ContractViolation] {
        [1, 2, 10].flatMap { count -> [ContractViolation] in
            let clock = VirtualScheduler()
            let limit = source == .here ? 10_000 : 2_000
            let probe = ContractProbe("source without end\(source), cancelled in value \(count)")
            let consumer = source.consumer(of: limit, apply, probe, clock)
            consumer.cancelsInValue = count
            consumer.start()
            do { try clock.advance(by: patience) } catch { probe.report(.endsInVirtualTime, "\(error)") }
            if probe.sentAfterClose > 0 {
                probe.report(.stopsEarly, "\(probe.sentAfterClose) values were taken after the cancel")
            } else if probe.sent >= limit && probe.valueCount >= count && !isDeferred {
                probe.report(.stopsEarly, "the cancel came only after all \(limit) values were taken")
            }
            consumer.cancel()
            do { try clock.advance(by: .zero) } catch { probe.report(.endsInVirtualTime, "\(error)") }
            if probe.notTornDownCount != 0 {
                probe.report(.teardown, "\(probe.notTornDownCount) sources were not torn down")
            }
            return probe.violations
        }
    }

    /// No value may arrive during a pause, not even the last ones, and all must arrive after it.
    static func pauseAtTheEnd<Output, Failure>(
        _ apply: @escaping Application<Output, Failure>, source index: Int, isPatient: Bool
    ) -> [ContractViolation] {
        let (name, _, canWait) = sources(ContractProbe(""), VirtualScheduler())[index]
        let plain = ContractProbe(name)
        run(apply, source: index, plain) { $0.start() }
        return (0..<3).flatMap { number -> [ContractViolation] in
            let last = plain.valueCount - number
            guard last > 0 else { return [] }
            let probe = ContractProbe("\(name), paused in value \(last) of \(plain.valueCount)")
            let clock = VirtualScheduler()
            let consumer = Consumer(apply(sources(probe, clock)[index].source, clock), probe)
            consumer.staysPausedFromValue = last
            consumer.start()
            do {
                try consumer.awaitPause(clock)
                if canWait && isPatient && probe.valueCount > last {
                    probe.report(.backpressure, "\(probe.valueCount - last) values came while paused")
                }
                consumer.resume()
                try clock.advance(by: patience)
            } catch {
                probe.report(.endsInVirtualTime, "\(error)")
            }
            consumer.cancel()
            if probe.outcome != plain.outcome {
                probe.report(.sameAfterPause, "\(probe.outcome) instead of \(plain.outcome)")
            }
            return probe.violations
        }
    }

    /// A value or an end that is under way when a pause comes must wait until the end of the pause, and nothing may be
    /// lost. The pauses begin shortly before each event of the source, and shortly after it.
    static func pauseInFlight<Output, Failure>(
        _ apply: @escaping Application<Output, Failure>
    ) -> [ContractViolation] {
        let count = 3
        let ends: [Completion<any Error>] = [.finished, .failed(ContractFailure())]
        return ends.flatMap { end -> [ContractViolation] in
            func run(_ situation: String, pausedAt time: Duration?) -> ContractProbe {
                let probe = ContractProbe(situation)
                let clock = VirtualScheduler()
                let consumer = Consumer(apply(inFlight(count, end, probe, clock), clock), probe)
                consumer.start()
                do {
                    if let time {
                        try clock.advance(to: time)
                        consumer.pause()
                        let before = probe.outcome
                        // Longer than the 50 ms from the earlier pause to its event.
                        try clock.advance(by: .milliseconds(90))
                        if probe.outcome != before {
                            probe.report(
                                .backpressure, "\(probe.outcome) at the end of a pause, \(before) before it")
                        }
                        consumer.resume()
                    }
                    try clock.advance(by: patience)
                } catch {
                    probe.report(.endsInVirtualTime, "\(error)")
                }
                consumer.cancel()
                return probe
            }
            let plain = run("source in flight, \(end)", pausedAt: nil)
            return (1...count + 1).flatMap { number in
                [Duration.milliseconds(-50), .milliseconds(5)].flatMap { offset -> [ContractViolation] in
                    let time = flight * number + offset
                    let paused = run("source in flight, \(end), paused at \(time)", pausedAt: time)
                    if paused.outcome != plain.outcome {
                        paused.report(.sameAfterPause, "\(paused.outcome) instead of \(plain.outcome)")
                    }
                    return paused.violations
                }
            }
        }
    }

    /// After a source that sends regardless of pauses, an operator with a limit must not begin streams while
    /// the subscriber is paused.
    static func hotSourceBeforeALimit<Output, Failure>(
        _ apply: @escaping Application<Output, Failure>
    ) -> [ContractViolation] {
        func hot(_ probe: ContractProbe, _ clock: VirtualScheduler) -> Source {
            timed(6, .finished, probe, clock)
        }
        let plain = ContractProbe("hot source")
        let paused = ContractProbe("hot source, paused, then resumed")
        for probe in [plain, paused] {
            let clock = VirtualScheduler()
            let consumer = Consumer(apply(hot(probe, clock), clock), probe)
            do {
                if probe === paused {
                    consumer.pause()
                    consumer.start()
                    let opened = probe.opened
                    try clock.advance(by: patience)
                    if probe.opened > opened {
                        probe.report(
                            .backpressure, "\(probe.opened - opened) streams were begun while paused")
                    }
                    consumer.resume()
                } else {
                    consumer.start()
                }
                try clock.advance(by: patience)
            } catch {
                probe.report(.endsInVirtualTime, "\(error)")
            }
            consumer.cancel()
        }
        if paused.outcome != plain.outcome {
            paused.report(.sameAfterPause, "\(paused.outcome) instead of \(plain.outcome)")
        }
        return paused.violations
    }
}
