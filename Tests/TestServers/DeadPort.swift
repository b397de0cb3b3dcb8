/// A port of 127.0.0.1 without a server, reserved as long as this value exists.
public struct DeadPort: ~Copyable, Sendable {
    /// The ways in which connections fail.
    public enum Kind: Sendable {
        /// They are refused: the socket does not listen.
        case refusing
        /// They wait: the queue of the listening socket is full and nothing accepts connections, so the
        /// kernel no longer answers (Linux drops the SYN).
        case full
    }

    /// The port.
    public let port: UInt16
    private let listener: Listener
    private let queued: Descriptor?

    /// Reserves a free port.
    public init(_ kind: Kind) throws(SystemError) {
        let listener = try Listener(backlog: kind == .full ? 0 : nil)
        // A queue of length 0 holds one connection.
        queued = kind == .full ? try Descriptor.connected(to: listener.port) : nil
        port = listener.port
        self.listener = listener
    }

    /// `http://127.0.0.1:port`, without a trailing slash.
    public var baseURL: String { "http://127.0.0.1:\(port)" }
}
