/// Splits the bytes of a client into frames and removes their masks.
struct FrameReader {
    /// A frame as it arrived.
    struct Received {
        var frame: Frame
        let isMasked: Bool
        /// Whether the length has its shortest form (RFC 6455 §5.2).
        let isMinimal: Bool
    }

    /// Longer frames than any case needs; a client that announces one cannot fill the memory.
    static let longest = 64 << 20

    private var buffer: [UInt8] = []
    private var start = 0

    mutating func append(_ bytes: [UInt8]) {
        if start > 0 {
            buffer.removeSubrange(..<start)
            start = 0
        }
        buffer += bytes
    }

    /// The next frame, once all of it has arrived.
    mutating func next() throws(Violation) -> Received? {
        let available = buffer.count - start
        guard available >= 2 else { return nil }
        let (first, second) = (buffer[start], buffer[start + 1])
        let isMasked = second & 0x80 != 0
        let extended = second & 0x7F == 127 ? 8 : second & 0x7F == 126 ? 2 : 0
        let header = 2 + extended + (isMasked ? 4 : 0)
        guard available >= header else { return nil }
        var length = UInt64(second & 0x7F)
        if extended > 0 {
            length = buffer[start + 2..<start + 2 + extended].reduce(0) { $0 << 8 | UInt64($1) }
        }
        guard length <= UInt64(Self.longest) else {
            throw Violation(code: 1009, reason: "a frame of \(length) octets")
        }
        guard available - header >= Int(length) else { return nil }
        let body = start + header
        var payload = Array(buffer[body..<body + Int(length)])
        if isMasked { Self.unmask(&payload, Array(buffer[body - 4..<body])) }
        start = body + Int(length)
        return Received(
            frame: Frame(
                opcode: Opcode(rawValue: first & 0x0F), payload: Octets(payload),
                isFinal: first & 0x80 != 0, reserved: first >> 4 & 7),
            isMasked: isMasked,
            isMinimal: extended == 0 || length >= (extended == 2 ? 126 : 65_536))
    }

    /// Eight octets at a time, because some cases echo a gibibyte.
    static func unmask(_ payload: inout [UInt8], _ mask: [UInt8]) {
        let wide = (0..<8).reduce(UInt64(0)) { $0 | UInt64(mask[$1 & 3]) << (UInt64($1) * 8) }.littleEndian
        unsafe payload.withUnsafeMutableBytes { bytes in
            let words = bytes.count / 8
            for word in 0..<words {
                let value = unsafe bytes.loadUnaligned(fromByteOffset: word * 8, as: UInt64.self) ^ wide
                unsafe bytes.storeBytes(of: value, toByteOffset: word * 8, as: UInt64.self)
            }
            for index in words * 8..<bytes.count { unsafe bytes[index] ^= mask[index & 3] }
        }
    }
}
