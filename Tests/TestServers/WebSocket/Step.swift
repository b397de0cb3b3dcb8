/// An action of a script.
enum Step: Sendable {
    /// How the octets of a frame go to the socket.
    enum Writing: Hashable, Sendable {
        /// In one write with the frames before and after it.
        case joined
        /// In a write of its own.
        case alone
        /// In writes of this many octets.
        case chopped(Int)
    }

    case frame(Frame, Writing)
    /// Begins a frame of `length` octets that is not the last one of its message.
    case beginFrame(Opcode, length: Int)
    /// Payload of a frame that was begun.
    case octets(Octets)
    /// Begins the closing handshake; the payload need not be valid.
    case close(Octets)
    /// Reads for this time. If the connection is still open then, records the name as an event and continues;
    /// otherwise the script is over.
    case wait(Duration, name: String?)
    /// Like `wait`, for a time in which a conforming client ends the connection.
    case watch(Duration, name: String)

    static func frame(
        _ opcode: Opcode, _ payload: Octets = [], isFinal: Bool = true, reserved: UInt8 = 0,
        _ writing: Writing = .joined
    ) -> Step {
        .frame(Frame(opcode: opcode, payload: payload, isFinal: isFinal, reserved: reserved), writing)
    }

    /// Begins the closing handshake with a code and a reason.
    static func close(_ code: UInt16, _ reason: Octets = []) -> Step {
        .close(Octets([UInt8(code >> 8), UInt8(code & 0xFF)]) + reason)
    }

    /// The frames of a message, cut into fragments of this many octets.
    static func fragments(_ opcode: Opcode, _ payload: Octets, size: Int) -> [Step] {
        Frame.fragments(opcode, payload, size: size).map { .frame($0, .joined) }
    }
}
