import Synchronization

extension ScriptedTransport {
    /// Replies that are given in their order; the last one repeats.
    ///
    /// ```swift
    /// let script = ScriptedTransport.Script([.failure(.connect), .json("[1, 2]")])
    /// let transport = ScriptedTransport(on: clock) { _ in script.next() }
    /// ```
    ///
    /// Safe from any thread.
    public final class Script: Sendable {
        private let replies: Mutex<[Reply]>

        /// Creates a script. Without a reply it stalls.
        public init(_ replies: [Reply]) { self.replies = Mutex(replies) }

        /// The next reply.
        public func next() -> Reply {
            replies.withLock { $0.count > 1 ? $0.removeFirst() : $0.first ?? .stall }
        }
    }
}
