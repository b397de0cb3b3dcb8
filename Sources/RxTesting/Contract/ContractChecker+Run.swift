import RxLite

extension ContractChecker {
    /// How long virtual time runs in each situation; the slowest of the checker's sources takes 8 s.
    static var patience: Duration { .seconds(3600) }

    /// One situation: a source, an operator, a time to leave.
    struct Run<Output: Sendable, Failure: Error> {
        private let apply: Application<Output, Failure>
        private let source: Int
        private let departure: Departure

        init(_ apply: @escaping Application<Output, Failure>, source: Int, _ departure: Departure) {
            self.apply = apply
            self.source = source
            self.departure = departure
        }

        func violations() -> [ContractViolation] {
            let clock = VirtualScheduler()
            let name = sources(ContractProbe(""), clock)[source].name
            let probe = ContractProbe("\(name), \(departure)")
            let isReleased = subscribeAndLeave(probe, clock)
            if probe.untorn != 0 { probe.report(.teardown, "\(probe.untorn) sources were not torn down") }
            if clock.pendingCount > 0 { probe.report(.noTimersLeft, "\(clock.pendingCount) timers left") }
            if probe.alive != 0 { probe.report(.nothingAlive, "\(probe.alive) values are still held") }
            if !isReleased() { probe.report(.nothingAlive, "the scope is still held") }
            return probe.violations
        }

        /// Returns whether nobody holds the subscription any more. All that this function held is gone then.
        private func subscribeAndLeave(_ probe: ContractProbe, _ clock: VirtualScheduler) -> () -> Bool {
            let consumer = Consumer(apply(sources(probe, clock)[source].source, clock), probe)
            if case .inValue(let number) = departure { consumer.leavesInValue = number }
            if case .beforeStart = departure { consumer.leave() }
            consumer.start()
            if case .afterStart = departure { consumer.leave() }
            do {
                if case .atTime(let time) = departure {
                    try clock.advance(to: time)
                    consumer.leave()
                }
                try clock.advance(by: patience)
            } catch {
                probe.report(.endsInVirtualTime, "\(error)")
            }
            if !probe.hasEnded { consumer.leave() }
            weak let scope = consumer.scope
            return { scope == nil }
        }
    }

    /// Subscribes with a scope of its own, which it can pause and close before the start.
    final class Consumer<Output: Sendable, Failure: Error> {
        let scope: Scope
        var leavesInValue = Int.max
        var pausesInValue = Int.max
        var staysPausedFromValue = Int.max
        /// How many values had been taken from the source when the pause began.
        var sentAtPause: Int? { hasPaused.value == 0 ? nil : pausedAfter.value }
        let probe: ContractProbe
        private let stream: Observable<Output, Failure>
        private let pausedAfter = Counter()
        private let hasPaused = Counter()

        /// - Parameter place: where the consumer is. Default: where the stream is.
        init(
            _ stream: Observable<Output, Failure>, _ probe: ContractProbe, on place: (any Scheduler)? = nil
        ) {
            self.stream = stream
            self.probe = probe
            scope = Scope(lane: Lane(scheduler: place ?? stream.scheduler))
        }

        func start() {
            let (scope, probe, last, pausing) = (scope, probe, leavesInValue, pausesInValue)
            let (staying, pausedAfter, hasPaused) = (staysPausedFromValue, pausedAfter, hasPaused)
            let observer = Observer<Output, Failure>(
                scope: scope,
                next: { _ in
                    probe.event {
                        probe.value()
                        if probe.valueCount == pausing {
                            scope.pause()
                            scope.resume()
                        }
                        if probe.valueCount == staying {
                            scope.pause()
                            pausedAfter.set(probe.sent)
                            hasPaused.add()
                        }
                        guard probe.valueCount == last else { return }
                        probe.close()
                        scope.cancel()
                    }
                },
                end: { completion in
                    probe.event { probe.end("\(completion)") }
                    scope.close()
                })
            scope.lane.enter { [stream] in stream.subscribe(observer) }
        }

        /// From anywhere, before the start too.
        func pause() {
            scope.lane.enter { [scope] in scope.pause() }
        }

        /// Lets time pass until a pause has come.
        func awaitPause(_ clock: VirtualScheduler) throws(VirtualTimeError) {
            for _ in 0..<600 where !scope.isPaused && scope.isOpen {
                try clock.advance(by: .milliseconds(100))
            }
        }

        func resume() {
            scope.lane.enter { [scope] in scope.resume() }
        }

        func leave() {
            // After the end there is nothing to cancel, and nothing may come either.
            probe.close()
            scope.cancel()
        }
    }
}
