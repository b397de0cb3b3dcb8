/// A port of 127.0.0.1 that nobody serves, and that stays so while this exists.
public struct DeadPort: ~Copyable, Sendable {
    /// What becomes of those who connect.
    public enum Kind: Sendable {
        /// They are refused: the socket does not listen.
        case refusing
        /// They wait: the queue of the listening socket is full and nobody takes from it, so that the kernel
        /// answers no more (Linux drops the SYN).
        case full
    }

    /// The port.
    public let port: UInt16
    private let listener: Listener
    private let queued: Descriptor?

    /// Takes a free port.
    public init(_ kind: Kind) throws(SystemError) {
        let listener = try Listener(backlog: kind == .full ? 0 : nil)
        // A queue of length 0 holds one.
        queued = kind == .full ? try Descriptor.connected(to: listener.port) : nil
        port = listener.port
        self.listener = listener
    }

    /// `http://127.0.0.1:port`, with no slash at the end.
    public var baseURL: String { "http://127.0.0.1:\(port)" }
}
