extension WebSocketConnectionState {
    /// Parses received bytes up to the next item. The owner calls it until it returns `nil`, which means that
    /// all bytes have been read.
    ///
    /// An owner that must not receive more for a while keeps the rest of the bytes, from `offset` on.
    ///
    /// - Parameters:
    ///   - bytes: the received bytes.
    ///   - offset: the index of the first byte that has not been read; it is moved.
    ///   - replies: pongs and close frames are appended to it. A peer that floods pings makes it grow, so the
    ///     owner stops reading from the transport while too much of it is unsent.
    /// - Returns: the next item. After ``WebSocketInput/close(code:reason:)`` or
    ///   ``WebSocketInput/violation(_:)`` the result is always `nil`, and all bytes are skipped.
    package mutating func next(
        in bytes: RawSpan, from offset: inout Int, replies: inout [UInt8]
    ) -> WebSocketInput? {
        guard !isClosed else {
            offset = bytes.byteCount
            return nil
        }
        do throws(WebSocketViolation) {
            return try unsafe bytes.withUnsafeBytes { bytes throws(WebSocketViolation) in
                try unsafe next(in: bytes, from: &offset, replies: &replies)
            }
        } catch {
            offset = bytes.byteCount
            if phase == .open { appendClose(error.code, reason: error.message, to: &replies) }
            phase = .closed
            return .violation(error)
        }
    }

    /// Parses all of the bytes.
    ///
    /// - Parameters:
    ///   - bytes: the received bytes.
    ///   - replies: pongs and close frames are appended to it.
    ///   - emit: takes the items; it must not use this state.
    package mutating func receive(
        _ bytes: [UInt8], replies: inout [UInt8], emit: (WebSocketInput) -> Void
    ) {
        var offset = 0
        while let input = unsafe next(in: bytes.span.bytes, from: &offset, replies: &replies) { emit(input) }
    }

    private mutating func next(
        in bytes: UnsafeRawBufferPointer, from offset: inout Int, replies: inout [UInt8]
    ) throws(WebSocketViolation) -> WebSocketInput? {
        while true {
            guard let frame = try unsafe frame(in: bytes, from: &offset) else { return nil }
            let part = unsafe UnsafeRawBufferPointer(
                rebasing: bytes[offset...].prefix(frame.length - receivedBytes))
            offset += part.count
            let isComplete = receivedBytes + part.count == frame.length
            if self.frame == nil {
                if isComplete, let whole = try unsafe takeWhole(part, of: frame, &replies) { return whole }
                if !frame.opcode.isControl { message.begin(frame) }
                self.frame = frame
            }
            if let input = try unsafe take(part, of: frame, isComplete: isComplete, &replies) { return input }
            guard isComplete else { return nil }
        }
    }

    /// Takes a control frame, or the only frame of a message that is not compressed, without buffering it;
    /// `nil` for all others.
    private mutating func takeWhole(
        _ part: UnsafeRawBufferPointer, of frame: FrameHeader, _ replies: inout [UInt8]
    ) throws(WebSocketViolation) -> WebSocketInput? {
        switch frame.opcode {
        case .close, .ping, .pong: try take(frame, payload: unsafe payload(part, of: frame), &replies)
        case .text where frame.isFinal && !frame.isCompressed:
            .message(.text(try unsafe text(part, of: frame)))
        case .binary where frame.isFinal && !frame.isCompressed:
            .message(.binary(unsafe payload(part, of: frame)))
        default: nil
        }
    }

    /// Takes a part of a payload, and the end of its frame.
    private mutating func take(
        _ part: UnsafeRawBufferPointer, of frame: FrameHeader, isComplete: Bool, _ replies: inout [UInt8]
    ) throws(WebSocketViolation) -> WebSocketInput? {
        if frame.opcode.isControl {
            unsafe control.append(part, key: frame.key, position: receivedBytes)
        } else {
            try unsafe message.append(part, key: frame.key, position: receivedBytes)
        }
        guard isComplete else {
            receivedBytes += part.count
            return nil
        }
        self.frame = nil
        receivedBytes = 0
        if frame.opcode.isControl {
            var payload: [UInt8] = []
            swap(&payload, &control)
            return try take(frame, payload: payload, &replies)
        }
        return frame.isFinal ? .message(try message.finish()) : nil
    }

    // MARK: - Headers

    /// The frame whose payload comes next; `nil` if its header is incomplete.
    private mutating func frame(
        in bytes: UnsafeRawBufferPointer, from offset: inout Int
    ) throws(WebSocketViolation) -> FrameHeader? {
        if let frame { return frame }
        return try unsafe readHeader(in: bytes, from: &offset)
    }

    private mutating func readHeader(
        in bytes: UnsafeRawBufferPointer, from offset: inout Int
    ) throws(WebSocketViolation) -> FrameHeader? {
        let rules = FrameRules(
            isMasked: role == .server, allowsCompression: deflate != nil,
            openMessage: message.isOpen
                ? .init(isCompressed: message.isCompressed, byteCount: message.bytes.count) : nil,
            limits: limits)
        if partialHeader.count == 0 {
            let rest = unsafe UnsafeRawBufferPointer(rebasing: bytes[offset...])
            if let (header, size) = try unsafe FrameHeader.read(rest, by: rules) {
                offset += size
                return header
            }
        }
        while offset < bytes.count {
            partialHeader.append(unsafe bytes[offset])
            offset += 1
            if let (header, _) = try partialHeader.read(by: rules) {
                partialHeader.removeAll()
                return header
            }
        }
        return nil
    }

    // MARK: - Complete frames

    private func payload(_ part: UnsafeRawBufferPointer, of frame: FrameHeader) -> [UInt8] {
        var payload: [UInt8] = []
        unsafe payload.append(part, key: frame.key)
        return payload
    }

    private func text(
        _ part: UnsafeRawBufferPointer, of frame: FrameHeader
    ) throws(WebSocketViolation) -> String {
        guard frame.key == nil else {
            let payload = unsafe payload(part, of: frame)
            guard unsafe UTF8Check.isText(payload.span.bytes) else { throw .invalidText }
            return String(decoding: payload, as: UTF8.self)
        }
        // The initializer that validates is several times slower than this one, which repairs.
        guard unsafe UTF8Check.isText(part.bytes) else { throw .invalidText }
        return unsafe String(decoding: part, as: UTF8.self)
    }

    /// Takes a control frame.
    private mutating func take(
        _ frame: FrameHeader, payload: [UInt8], _ replies: inout [UInt8]
    ) throws(WebSocketViolation) -> WebSocketInput {
        switch frame.opcode {
        case .ping:
            append(.pong, payload, to: &replies)
            return .ping(payload)
        case .close: return try takeClose(payload, &replies)
        default: return .pong(payload)
        }
    }

    /// Takes the peer's close frame (RFC 6455 §5.5.1) and replies with its code.
    private mutating func takeClose(
        _ payload: [UInt8], _ replies: inout [UInt8]
    ) throws(WebSocketViolation) -> WebSocketInput {
        var code: WebSocketCloseCode?
        guard payload.count != 1 else { throw .protocolError("a close frame has half a code") }
        if payload.count >= 2 {
            let received = WebSocketCloseCode(rawValue: UInt16(payload[0]) << 8 | UInt16(payload[1]))
            guard received.isSendable else { throw .protocolError("close code \(received) is not allowed") }
            code = received
        }
        guard let reason = String(validating: payload.dropFirst(2), as: UTF8.self) else {
            throw WebSocketViolation(.invalidPayload, "the reason of a close frame is not UTF-8")
        }
        if phase == .open {
            appendClose(code, reason: "", to: &replies)
            phase = .closeReceived
        } else {
            phase = .closed
        }
        return .close(code: code, reason: reason)
    }
}

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
        // The direction from the peer. `makeDeflater` takes the parameters of the other one.
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
    /// - Parameter position: the index in the payload of the first byte.
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

    // MARK: - Decompression

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

    /// Supplies the bytes that the sender has removed; on this side ``Deflater/compress(_:)`` removes them.
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
