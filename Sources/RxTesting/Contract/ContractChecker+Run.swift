import RxLite

extension ContractChecker {
    /// How long virtual time runs in each situation; the slowest of the checker's sources takes 8 s.
    static var patience: Duration { .seconds(3600) }

    /// One situation: a source, an operator, and the time of the cancel.
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

        /// Returns a check of whether the subscription has been released. This function itself keeps nothing
        /// of it.
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

    /// A subscriber with a separate scope, which it can pause and close before the start.
    final class Consumer<Output: Sendable, Failure: Error> {
        let scope: Scope
        var leavesInValue = Int.max
        var pausesInValue = Int.max
        var staysPausedFromValue = Int.max
        /// The number of values taken from the source when the pause began.
        var sentAtPause: Int? { hasPaused.value == 0 ? nil : pausedAfter.value }
        let probe: ContractProbe
        private let stream: Observable<Output, Failure>
        private let pausedAfter = Counter()
        private let hasPaused = Counter()

        /// - Parameter place: the consumer's scheduler. Default: the stream's scheduler.
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

        /// Can be called from anywhere, also before the start.
        func pause() {
            scope.lane.enter { [scope] in scope.pause() }
        }

        /// Advances time until a pause has begun.
        func awaitPause(_ clock: VirtualScheduler) throws(VirtualTimeError) {
            for _ in 0..<600 where !scope.isPaused && scope.isOpen {
                try clock.advance(by: .milliseconds(100))
            }
        }

        func resume() {
            scope.lane.enter { [scope] in scope.resume() }
        }

        func leave() {
            // After the end there is nothing to cancel, and no event may follow.
            probe.close()
            scope.cancel()
        }
    }
}
