import RxLoop

extension EventLoop {
    /// Returns after the loop has polled its sockets once more.
    func poll() async {
        await withCheckedContinuation { continuation in
            // Work scheduled from within runs in the next iteration, and the sockets are polled in between.
            schedule { self.schedule { continuation.resume() } }
        }
    }

    /// The result of `look` on the loop.
    func run<Result: Sendable>(_ look: @escaping @Sendable () -> Result) async -> Result {
        await withCheckedContinuation { continuation in
            schedule { continuation.resume(returning: look()) }
        }
    }

    /// Returns after the given time by the loop's clock.
    func pass(_ time: Duration) async {
        await withCheckedContinuation { continuation in
            _ = schedule(after: time) { continuation.resume() }
        }
    }
}
