import RxHTTP
import RxWebSocket

extension NetworkError {
    /// The error for a connection that the server has closed.
    init(closedWith code: WebSocketCloseCode, _ reason: String) {
        self.init(
            .webSocketClosed, "the server closed with \(code)" + (reason.isEmpty ? "" : ": \(reason)"))
        closeCode = Int(code.rawValue)
    }

    /// The error for a server that broke the protocol.
    init(_ violation: WebSocketViolation) {
        self.init(.webSocketProtocol, violation.message)
        closeCode = Int(violation.code.rawValue)
    }
}

extension WebSocketCloseCode {
    /// Whether a stream that the server closes with the code finishes rather than fails.
    var isSuccess: Bool { [.normalClosure, .goingAway, .noStatus].contains(self) }
}
