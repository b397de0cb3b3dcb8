import RxLite

extension Observable where Element == [UInt8] {
    /// The bytes that `admit` takes of each chunk, in batches; the source is closed after the last.
    ///
    /// Many connections bring many small chunks, each of which would be a write of its own. So a chunk waits for others, but
    /// never longer than for the next one after 20 ms.
    func batches(
        on clock: any Scheduler, _ admit: @escaping @Sendable (Int) -> (count: Int, isLast: Bool)
    ) -> Observable {
        lift { observer in
            let batches = PartedBatches(clock, admit, into: observer)
            return Observer(scope: batches.scope, next: batches.receive, end: batches.end)
        }
    }
}

/// The running batches of one response.
private final class PartedBatches<Failure: Error>: @unchecked Sendable {
    // Unchecked: runs only inside the subscription's lane, which is serial. Debug builds check that.

    /// The size from which on a batch does not wait.
    private static var size: Int { 64 << 10 }
    private static var interval: Duration { .milliseconds(20) }

    let scope: Scope
    private let clock: any Scheduler
    private let admit: @Sendable (Int) -> (count: Int, isLast: Bool)
    private let observer: Observer<[UInt8], Failure>
    private var waiting: [UInt8] = []
    private var sentAt: Duration?

    init(
        _ clock: any Scheduler, _ admit: @escaping @Sendable (Int) -> (count: Int, isLast: Bool),
        into observer: Observer<[UInt8], Failure>
    ) {
        self.clock = clock
        self.admit = admit
        self.observer = observer
        scope = observer.scope.child()
    }

    @Sendable
    func receive(_ chunk: [UInt8]) {
        scope.lane.assertInside()
        let (count, isLast) = admit(chunk.count)
        let now = clock.now
        let isDue = sentAt.map { now - $0 >= Self.interval } ?? true
        if waiting.isEmpty, count == chunk.count, isDue || count >= Self.size {
            sentAt = now
            if count > 0 { observer.next(chunk) }
        } else {
            if waiting.isEmpty { waiting.reserveCapacity(Self.size + chunk.count) }
            waiting += chunk.prefix(count)
            if isDue || waiting.count >= Self.size { send(at: now) }
        }
        if isLast { end(.finished) }
    }

    private func send(at now: Duration) {
        sentAt = now
        guard !waiting.isEmpty else { return }
        let batch = waiting
        waiting = []
        observer.next(batch)
    }

    @Sendable
    func end(_ completion: Completion<Failure>) {
        guard scope.isOpen else { return }
        send(at: clock.now)
        scope.close()
        observer.end(completion)
    }
}
