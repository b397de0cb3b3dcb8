extension WebSocketConnectionState {
    /// Appends a message, compressed if that was agreed and it is large enough.
    ///
    /// - Throws: ``WebSocketSendRefusal/closing``.
    package mutating func send(
        _ message: WebSocketMessage, into output: inout [UInt8]
    ) throws(WebSocketSendRefusal) {
        guard phase == .open else { throw .closing }
        switch message {
        case .text(let text):
            let isDone: Void? = unsafe text.utf8.withContiguousStorageIfAvailable { bytes in
                unsafe send(UnsafeRawBufferPointer(bytes), .text, into: &output)
            }
            if isDone == nil {
                unsafe Array(text.utf8).withUnsafeBytes { unsafe send($0, .text, into: &output) }
            }
        case .binary(let bytes):
            unsafe bytes.withUnsafeBytes { unsafe send($0, .binary, into: &output) }
        }
    }

    /// Appends a ping.
    ///
    /// - Parameter payload: at most 125 bytes, which the peer's pong repeats.
    /// - Throws: a ``WebSocketSendRefusal``.
    package mutating func ping(
        _ payload: [UInt8] = [], into output: inout [UInt8]
    ) throws(WebSocketSendRefusal) {
        try sendControl(.ping, payload, into: &output)
    }

    /// Appends a pong that answers no ping; those that do are appended by ``next(in:from:replies:)``.
    ///
    /// - Parameter payload: at most 125 bytes.
    /// - Throws: a ``WebSocketSendRefusal``.
    package mutating func pong(
        _ payload: [UInt8] = [], into output: inout [UInt8]
    ) throws(WebSocketSendRefusal) {
        try sendControl(.pong, payload, into: &output)
    }

    /// Appends a close frame. Messages of the peer may still arrive before its own close frame.
    ///
    /// - Parameters:
    ///   - code: the code; `nil` for a frame without code and reason.
    ///   - reason: a text for humans; of more than 123 bytes, the first characters are sent.
    /// - Throws: a ``WebSocketSendRefusal``.
    package mutating func close(
        _ code: WebSocketCloseCode? = .normalClosure, reason: String = "", into output: inout [UInt8]
    ) throws(WebSocketSendRefusal) {
        guard phase == .open else { throw .closing }
        if let code, !code.isSendable { throw .unsendable(code) }
        appendClose(code, reason: reason, to: &output)
        phase = .closeSent
    }

    private mutating func sendControl(
        _ opcode: Opcode, _ payload: [UInt8], into output: inout [UInt8]
    ) throws(WebSocketSendRefusal) {
        guard phase == .open else { throw .closing }
        guard payload.count <= Self.largestControlFrame else { throw .largeControlFrame(payload.count) }
        append(opcode, payload, to: &output)
    }

    // MARK: - Messages

    private mutating func send(_ bytes: UnsafeRawBufferPointer, _ opcode: Opcode, into output: inout [UInt8])
    {
        guard let deflate, bytes.count >= max(1, deflate.minimumSize),
            let deflater = deflater ?? makeDeflater(deflate)
        else { return unsafe append(bytes, opcode, isCompressed: false, to: &output) }
        self.deflater = deflater
        unsafe deflater.compress(bytes).withUnsafeBytes { bytes in
            unsafe append(bytes, opcode, isCompressed: true, to: &output)
        }
    }

    /// The compressor of this side; `nil` for a window of 8 bits, with which zlib cannot compress. ``IncomingMessage``
    /// takes the parameters of the other direction.
    private func makeDeflater(_ deflate: PermessageDeflate) -> Deflater? {
        let isClient = role == .client
        let bits = isClient ? deflate.clientWindowBits : deflate.serverWindowBits
        guard bits >= 9 else { return nil }
        return Deflater(
            windowBits: bits, level: deflate.level,
            keepsContext: isClient ? deflate.clientKeepsContext : deflate.serverKeepsContext)
    }

    /// Appends a message in frames of at most ``frameSize`` bytes.
    private mutating func append(
        _ bytes: UnsafeRawBufferPointer, _ opcode: Opcode, isCompressed: Bool, to output: inout [UInt8]
    ) {
        guard bytes.count > frameSize else {
            return unsafe output.append(
                frame: bytes, opcode: opcode, isCompressed: isCompressed, key: newKey())
        }
        var start = 0
        while start < bytes.count {
            let end = bytes.count - start > frameSize ? start + frameSize : bytes.count
            let isFirst = start == 0
            unsafe output.append(
                frame: UnsafeRawBufferPointer(rebasing: bytes[start..<end]),
                opcode: isFirst ? opcode : .continuation, isFinal: end == bytes.count,
                isCompressed: isFirst && isCompressed, key: newKey())
            start = end
        }
    }

    // MARK: - Control frames

    /// Appends a control frame of at most 125 bytes.
    mutating func append(_ opcode: Opcode, _ payload: [UInt8], to output: inout [UInt8]) {
        let key = newKey()
        unsafe payload.withUnsafeBytes { unsafe output.append(frame: $0, opcode: opcode, key: key) }
    }

    /// Appends a close frame; the reason is cut to what fits.
    mutating func appendClose(_ code: WebSocketCloseCode?, reason: String, to output: inout [UInt8]) {
        guard let code else { return append(.close, [], to: &output) }
        var payload = code.rawValue.bigEndianBytes
        for character in reason {
            guard payload.count + character.utf8.count <= Self.largestControlFrame else { break }
            payload.append(contentsOf: character.utf8)
        }
        append(.close, payload, to: &output)
    }

    /// A new masking key (RFC 6455 §5.3); `nil` for a server, which does not mask.
    private mutating func newKey() -> UInt32? {
        role == .client ? UInt32(truncatingIfNeeded: random.next()) : nil
    }
}
