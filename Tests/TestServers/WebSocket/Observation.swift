/// Everything that the server has seen on the connection of a case.
struct Observation: Sendable {
    /// The result of an exchange.
    enum Result: Hashable, Sendable {
        case completed
        /// The client did not offer permessage-deflate.
        case notOffered
        /// With the difference between the message and its echo.
        case mismatch(String)
    }

    /// Whether the opening handshake was completed.
    var isOpen = false
    /// Why it was not, or the client's offence for which the server failed the connection.
    var complaint: String?
    var events: [Event] = []
    /// The result of an exchange; `nil` if it did not end.
    var result: Result?
    /// Whether the server sent the first close frame.
    var isClosedByServer = false
    /// Whether close frames were exchanged.
    var isClean = false
    /// The code in the client's close frame.
    var closeCode: UInt16?
}
