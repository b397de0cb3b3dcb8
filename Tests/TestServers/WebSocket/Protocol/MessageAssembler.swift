/// Joins the client's fragments into messages.
struct MessageAssembler {
    /// `nil` if permessage-deflate was not agreed.
    var inflater: MessageInflater?
    private var opcode: Opcode?
    private var isCompressed = false
    private var payload: [UInt8] = []

    /// Adds a data frame; returns the message that it completes.
    mutating func add(_ frame: Frame) throws(Violation) -> Event? {
        switch (opcode, frame.opcode) {
        case (nil, .continuation): throw Violation(code: 1002, reason: "a continuation of nothing")
        case (nil, _):
            guard frame.reserved == 0 || frame.reserved == 4 && inflater != nil else {
                throw Violation(code: 1002, reason: "the reserved bits \(frame.reserved)")
            }
            (opcode, isCompressed, payload) = (frame.opcode, frame.reserved == 4, frame.payload.bytes)
        case (_, .continuation):
            guard frame.reserved == 0 else {
                throw Violation(code: 1002, reason: "reserved bits in a continuation")
            }
            payload += frame.payload.bytes
        default: throw Violation(code: 1002, reason: "a new message inside a fragmented one")
        }
        guard payload.count <= FrameReader.longest else {
            throw Violation(code: 1009, reason: "a message of more than \(FrameReader.longest) octets")
        }
        guard frame.isFinal, let kind = opcode else { return nil }
        opcode = nil
        var message = Octets(payload)
        payload = []
        if isCompressed, let inflater { message = try inflater.decompress(message) }
        guard kind == .text else { return .binary(message) }
        guard String(validating: message.bytes, as: UTF8.self) != nil else {
            throw Violation(code: 1007, reason: "a text that is not UTF-8")
        }
        return .text(message)
    }
}
