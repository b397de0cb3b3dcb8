import RxLoop

extension EventLoop {
    /// Returns when the loop has looked at its sockets once more.
    func poll() async {
        await withCheckedContinuation { continuation in
            // What is scheduled from within runs in the next round, and the sockets come in between.
            schedule { self.schedule { continuation.resume() } }
        }
    }

    /// What `look` finds on the loop.
    func run<Result: Sendable>(_ look: @escaping @Sendable () -> Result) async -> Result {
        await withCheckedContinuation { continuation in
            schedule { continuation.resume(returning: look()) }
        }
    }

    /// Returns when so much time has passed by the loop's clock.
    func pass(_ time: Duration) async {
        await withCheckedContinuation { continuation in
            _ = schedule(after: time) { continuation.resume() }
        }
    }
}
