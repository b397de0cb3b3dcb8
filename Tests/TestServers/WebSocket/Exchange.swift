/// Messages that the server sends one after the other, each when the last one has come back.
struct Exchange: Sendable {
    /// How the octets of a message are divided.
    enum Division: Hashable, Sendable {
        case none
        /// Frames with at most this many octets of payload.
        case fragments(Int)
        /// Writes of this many octets.
        case chops(Int)
    }

    /// The number of messages.
    var count: Int
    var opcode: Opcode
    var division = Division.none
    /// The time for the whole exchange.
    var limit: Duration
    /// The permessage-deflate parameters to ask for, best first; `nil` for cases without compression.
    var deflate: [DeflateRequest]?
    /// The payload of the message with this index, from 0. Made anew each time, since some are large.
    var payload: @Sendable (Int) -> Octets
}
