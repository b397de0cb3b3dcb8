public import RxHTTP
public import RxWebSocket

/// The server's end of a WebSocket, scripted in virtual time.
///
/// ```swift
/// let transport = ScriptedTransport(on: clock, [
///     .when(.get, "/chat", .webSocket(.receive, .send(.text("hello")), .close(.normalClosure)))
/// ])
/// ```
///
/// It reads and answers frames by the same rules as a real server: pings are answered, a close frame is
/// answered and ends the connection. ``ScriptedTransport/Exchange/messages`` records what the client sends, and
/// ``ScriptedTransport/Exchange/closeCode`` the code of its close frame.
///
/// A list of replies in a rule gives each connection its script. An open connection sends pings for as long
/// as it is open, so advance the clock by a time (``VirtualScheduler/advance(by:)``) unless the script ends
/// it.
public struct ScriptedWebSocket: Sendable {
    /// One step of the server.
    public enum Step: Sendable {
        /// Time passes.
        case wait(Duration)
        /// Waits for a message from the client that no earlier step has consumed.
        case receive
        /// Sends a message.
        case send(WebSocketMessage)
        /// Sends a ping.
        case ping([UInt8])
        /// Sends back every message of the client from now on; the last step.
        case echo
        /// Reads nothing from now on: pings and close frames stay unanswered.
        case ignore
        /// Sends a close frame, and ends the connection when the client has answered.
        case close(WebSocketCloseCode, reason: String = "")
        /// Sends bytes as they are, for frames that a server must not send.
        case bytes([UInt8])
        /// Ends the connection without a close frame.
        case end
        /// The connection fails.
        case fail(NetworkError)
    }

    /// The steps, in order. After the last one the server sends no more messages; it still answers pings and
    /// close frames.
    public var steps: [Step]
    /// The subprotocols that the server knows; it chooses the first that is offered.
    public var subprotocols: [String]
    /// The compression that the server accepts.
    public var compression: WebSocketCompression
    /// The time before the response to the handshake.
    var delay = Duration.zero

    /// Creates a script.
    ///
    /// - Parameters:
    ///   - steps: the steps, in order.
    ///   - subprotocols: the subprotocols that the server knows. Default none.
    ///   - compression: the compression that the server accepts. Default none.
    public init(
        _ steps: [Step], subprotocols: [String] = [], compression: WebSocketCompression = .off
    ) {
        self.steps = steps
        self.subprotocols = subprotocols
        self.compression = compression
    }
}

extension ScriptedTransport.Reply {
    /// A WebSocket whose server follows the steps; see ``ScriptedWebSocket``.
    public static func webSocket(_ steps: ScriptedWebSocket.Step...) -> Self {
        .webSocket(ScriptedWebSocket(steps))
    }

    /// A WebSocket whose server follows the script.
    public static func webSocket(_ script: ScriptedWebSocket) -> Self {
        var reply = Self([])
        reply.webSocket = script
        return reply
    }
}
