/// The opcode of a frame (RFC 6455 §5.2), including the reserved ones.
struct Opcode: RawRepresentable, Hashable, Sendable {
    let rawValue: UInt8

    init(rawValue: UInt8) { self.rawValue = rawValue }

    static let continuation = Opcode(rawValue: 0)
    static let text = Opcode(rawValue: 1)
    static let binary = Opcode(rawValue: 2)
    static let close = Opcode(rawValue: 8)
    static let ping = Opcode(rawValue: 9)
    static let pong = Opcode(rawValue: 10)

    var isControl: Bool { rawValue > 7 }

    /// Whether RFC 6455 leaves the opcode to later versions.
    var isReserved: Bool { (3...7).contains(rawValue) || rawValue > 10 }
}
