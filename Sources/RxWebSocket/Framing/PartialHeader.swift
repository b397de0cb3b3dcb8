/// The bytes of a header that has not arrived completely; at most 14 (RFC 6455 §5.2).
struct PartialHeader: Sendable {
    private var bytes: (UInt64, UInt64) = (0, 0)
    private(set) var count = 0

    mutating func append(_ byte: UInt8) {
        let place = count
        unsafe withUnsafeMutableBytes(of: &bytes) { unsafe $0[place] = byte }
        count += 1
    }

    mutating func removeAll() { count = 0 }

    func read(by rules: FrameRules) throws(WebSocketViolation) -> (header: FrameHeader, size: Int)? {
        var copy = bytes
        return try unsafe withUnsafeBytes(of: &copy) { bytes throws(WebSocketViolation) in
            try unsafe FrameHeader.read(UnsafeRawBufferPointer(rebasing: bytes[..<count]), by: rules)
        }
    }
}
