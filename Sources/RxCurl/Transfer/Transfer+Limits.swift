internal import RxHTTP
internal import RxLite
internal import RxLoop

extension Transfer {
    /// Begins the attempt: its limits count from now.
    func start() {
        if isStreamed { timing.startedAt = multi.loop.now }
        let start = multi.loop.nanoseconds - queuePlace.heldTime
        if let time = timing.clock.begin(at: start) { handle?.limits?.start(at: time) }
    }

    /// Checks whether a limit has passed.
    func look() -> TransferClock.Finding {
        // The other protocol may be silent for as long as it likes.
        if upgrade?.isOpen == true { return timing.clock.lookAtAttempt(at: multi.loop.nanoseconds) }
        let phase: TransferClock.Phase =
            if content.source?.isAwaited == true {
                .sending
            } else if !state.isSent {
                .connecting
            } else if !state.awaitsStatusLine {
                .receiving
            } else {
                isContentSent ? .waiting : .sending
            }
        let moved =
            state.headBytes + (handle?.receivedBytes ?? 0) + (handle?.sentBytes ?? 0)
            + (upgrade?.receivedBytes ?? 0)
        return timing.clock.look(
            at: multi.loop.nanoseconds, phase: phase, progress: moved, isWaived: isWaiting)
    }

    /// Whether nothing moves because of this side: the consumer has paused, or the content is not ready.
    private var isWaiting: Bool {
        observer.scope.isPaused || content.source.map { $0.isStarved || $0.isAwaited } ?? false
    }
}
