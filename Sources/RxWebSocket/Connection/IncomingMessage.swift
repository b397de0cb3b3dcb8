/// The message whose frames are being received: joined, decompressed and checked as the bytes arrive.
struct IncomingMessage: ~Copyable, Sendable {
    private let limits: WebSocketLimits
    private let windowBits: Int
    private let keepsContext: Bool

    /// The bytes so far, decompressed.
    private(set) var bytes: [UInt8] = []
    /// Whether a message is incomplete.
    private(set) var isOpen = false
    private(set) var isCompressed = false
    private var isText = false
    private var check = UTF8Check()
    /// The sum of the frames' lengths. A frame counts as soon as its header is complete, so that limits do
    /// not depend on how the bytes arrive.
    private var announcedBytes = 0
    /// Created with the first compressed message.
    private var inflater: Inflater?

    init(role: WebSocketConnectionState.Role, limits: WebSocketLimits, deflate: PermessageDeflate?) {
        self.limits = limits
        let isClient = role == .client
        windowBits = (isClient ? deflate?.serverWindowBits : deflate?.clientWindowBits) ?? 15
        keepsContext = (isClient ? deflate?.serverKeepsContext : deflate?.clientKeepsContext) ?? true
    }

    /// Takes the header of a data frame.
    mutating func begin(_ frame: FrameHeader) {
        if !isOpen {
            isOpen = true
            isCompressed = frame.isCompressed
            isText = frame.opcode == .text
            check = UTF8Check()
            announcedBytes = 0
            // No more than a connection may cost that announces much and sends little.
            if !isCompressed { bytes.reserveCapacity(min(frame.length, 1 << 20)) }
        }
        let (sum, isHuge) = announcedBytes.addingReportingOverflow(frame.length)
        announcedBytes = isHuge ? .max : sum
    }

    /// Takes a part of a frame's payload.
    ///
    /// - Parameter position: the place in the payload of the first byte.
    mutating func append(
        _ part: UnsafeRawBufferPointer, key: UInt32?, position: Int
    ) throws(WebSocketViolation) {
        guard isCompressed else {
            let start = bytes.count
            unsafe bytes.append(part, key: key, position: position)
            return try accept(from: start)
        }
        guard let key else { return try unsafe inflate(part) }
        var unmasked: [UInt8] = []
        unsafe unmasked.append(part, key: key, position: position)
        try inflate(unmasked)
    }

    /// Completes the message.
    mutating func finish() throws(WebSocketViolation) -> WebSocketMessage {
        if isCompressed { try finishInflating() }
        guard !isText || check.isComplete else { throw .invalidText }
        isOpen = false
        var complete: [UInt8] = []
        swap(&complete, &bytes)
        return isText ? .text(String(decoding: complete, as: UTF8.self)) : .binary(complete)
    }

    /// Checks the bytes from `start` on, if they belong to a text.
    private mutating func accept(from start: Int) throws(WebSocketViolation) {
        guard isText else { return }
        let isValid = unsafe bytes.withUnsafeBytes { bytes in
            unsafe check.take(UnsafeRawBufferPointer(rebasing: bytes[start...]))
        }
        guard isValid else { throw .invalidText }
    }

    // MARK: Decompression

    private mutating func inflate(_ input: UnsafeRawBufferPointer) throws(WebSocketViolation) {
        let inflater = self.inflater ?? Inflater(windowBits: windowBits)
        self.inflater = inflater
        let allowance = limits.allowance(for: announcedBytes)
        var consumed = 0
        while true {
            // One byte more than allowed tells a message at the limit from a larger one.
            let room = min(Inflater.pieceSize, allowance - bytes.count + 1)
            let step = unsafe inflater.inflate(
                UnsafeRawBufferPointer(rebasing: input[consumed...]), room: room)
            consumed += step.consumed
            let start = bytes.count
            unsafe bytes.append(inflater.output(step), key: nil, position: 0)
            try accept(from: start)
            guard bytes.count <= allowance else {
                throw allowance < limits.messageBytes
                    ? .expanded(limits.expansion) : .largeMessage(limits.messageBytes)
            }
            guard !step.isMalformed else { throw .invalidCompression }
            if step.isEnd {
                // A block with BFINAL set; what follows is a new stream (RFC 7692 §7.2.3.4).
                inflater.reset()
            }
            if consumed == input.count, step.produced < room { return }
            guard step.consumed > 0 || step.produced > 0 else { throw .invalidCompression }
        }
    }

    private mutating func inflate(_ input: [UInt8]) throws(WebSocketViolation) {
        try unsafe input.span.bytes.withUnsafeBytes { input throws(WebSocketViolation) in
            try unsafe inflate(input)
        }
    }

    /// Supplies the bytes that the sender has removed.
    private mutating func finishInflating() throws(WebSocketViolation) {
        // Without a byte in it, the message is taken as empty although a sender should have sent one zero.
        guard announcedBytes > 0, let inflater else { return }
        // After a block with BFINAL set, there need not be an empty block for the removed bytes to complete.
        if !inflater.isFresh {
            try inflate([0x00, 0x00, 0xFF, 0xFF])
            // They may also complete an empty block with BFINAL set (RFC 7692 §7.2.1), the end of the deflate stream.
            guard inflater.isFresh || inflater.isAtBoundary else { throw .invalidCompression }
        }
        if !keepsContext { inflater.reset() }
    }
}
