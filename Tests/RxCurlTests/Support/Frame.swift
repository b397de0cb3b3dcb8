/// HTTP/2 frames in their wire format (RFC 9113 §6).
enum Frame {
    static let settings = frame(4)
    static let acknowledged = frame(4, flags: 1)
    /// `:status: 200` and `content-length: 6` (RFC 7541 appendix A, indices 8 and 28).
    static let ok = frame(1, flags: 4, [0x88, 0x0F, 0x0D, 1, 0x36], stream: 1)

    /// `:status: 200`, without a length.
    static func head(stream: UInt8 = 1, endsStream: Bool = false) -> [UInt8] {
        frame(1, flags: endsStream ? 5 : 4, [0x88], stream: stream)
    }

    static func data(_ text: String, endsStream: Bool, stream: UInt8 = 1) -> [UInt8] {
        frame(0, flags: endsStream ? 1 : 0, Array(text.utf8), stream: stream)
    }

    /// A literal field after the body: `a: b`.
    static func trailers(stream: UInt8 = 1) -> [UInt8] {
        frame(1, flags: 5, [0, 1, 0x61, 1, 0x62], stream: stream)
    }

    static func reset(_ code: UInt8, stream: UInt8 = 1) -> [UInt8] {
        frame(3, [0, 0, 0, code], stream: stream)
    }

    static func goAway(last: UInt8, _ code: UInt8) -> [UInt8] { frame(7, [0, 0, 0, last, 0, 0, 0, code]) }

    static func frame(
        _ type: UInt8, flags: UInt8 = 0, _ payload: [UInt8] = [], stream: UInt8 = 0
    ) -> [UInt8] {
        let count = payload.count
        return [
            UInt8(count >> 16), UInt8(count >> 8 & 0xFF), UInt8(count & 0xFF), type, flags, 0, 0, 0, stream,
        ] + payload
    }
}
