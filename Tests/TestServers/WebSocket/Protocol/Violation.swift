/// An offence of the client against RFC 6455, for which the server fails the connection.
struct Violation: Error {
    /// The close code that the server sends.
    let code: UInt16
    let reason: String
}
