import RxLoop

extension EventLoop {
    /// Returns when the loop has looked at its sockets once more.
    func poll() async {
        await withCheckedContinuation { continuation in
            // What is scheduled from within runs in the next round, and the sockets come in between.
            schedule { self.schedule { continuation.resume() } }
        }
    }
}
