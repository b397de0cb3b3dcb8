/// The end of the connection that a case asks for.
struct CloseExpectation: Sendable {
    /// The side that sends the first close frame, or drops the connection.
    enum Side: Hashable, Sendable {
        case server, client
    }

    let by: Side
    /// The codes that the client may send; none at all is also right.
    let codes: [UInt16]
    /// Whether the close frames must be exchanged before the connection is dropped.
    let isClean: Bool
    /// Whether the case fails if the server had to close: then the client has not noticed the invalid UTF-8.
    let isFailedByWrongSide: Bool

    init(by side: Side, codes: [UInt16], isClean: Bool, isFailedByWrongSide: Bool = false) {
        by = side
        self.codes = codes
        self.isClean = isClean
        self.isFailedByWrongSide = isFailedByWrongSide
    }
}
