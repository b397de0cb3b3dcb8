import Synchronization

extension ScriptedTransport {
    /// Replies in their order; the last one repeats.
    ///
    /// ```swift
    /// let script = ScriptedTransport.Script([.failure(.connect), .json("[1, 2]")])
    /// let transport = ScriptedTransport(on: clock) { _ in script.next() }
    /// ```
    ///
    /// Thread-safe.
    public final class Script: Sendable {
        private let replies: Mutex<[Reply]>

        /// Creates a script. Without any replies it stalls.
        public init(_ replies: [Reply]) { self.replies = Mutex(replies) }

        /// The next reply.
        public func next() -> Reply {
            replies.withLock { $0.count > 1 ? $0.removeFirst() : $0.first ?? .stall }
        }
    }
}
