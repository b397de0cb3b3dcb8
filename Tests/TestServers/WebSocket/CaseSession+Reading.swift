extension CaseSession {
    /// Handles what the client sends until the connection is over or the time has passed.
    mutating func read(until deadline: ContinuousClock.Instant) {
        var silence = ContinuousClock.now + pace.silence
        while state != .closed {
            handleFrames()
            guard state != .closed else { return }
            let limit = min(deadline, silence, closeDeadline ?? deadline)
            switch socket.receive(until: limit) {
            case .bytes(let bytes):
                reader.append(bytes)
                silence = .now + pace.silence
            case .closed, .reset, .stopped:
                state = .closed
            case .deadline:
                // A client that does not answer a close frame is dropped.
                if let closeDeadline, closeDeadline <= .now { drop() }
                return
            }
        }
    }

    private mutating func handleFrames() {
        while state != .closed {
            do throws(Violation) {
                guard let received = try reader.next() else { return }
                try handle(received)
            } catch {
                fail(error)
            }
        }
    }

    private mutating func handle(_ received: FrameReader.Received) throws(Violation) {
        let frame = received.frame
        guard received.isMasked else { throw Violation(code: 1002, reason: "an unmasked frame") }
        guard received.isMinimal else { throw Violation(code: 1002, reason: "a length in a long form") }
        if frame.opcode.isReserved {
            throw Violation(code: 1002, reason: "the reserved opcode \(frame.opcode.rawValue)")
        }
        guard frame.opcode.isControl else {
            if let event = try assembler.add(frame), observation.complaint == nil { react(to: event) }
            return
        }
        guard frame.reserved == 0, frame.isFinal, frame.payload.count <= 125 else {
            throw Violation(code: 1002, reason: "an invalid control frame")
        }
        switch frame.opcode {
        case .close: try handleClose(frame.payload.bytes)
        case .ping where state == .open:
            Frame(opcode: .pong, payload: frame.payload).encode(into: &output)
            flush()
        case .pong: react(to: .pong(frame.payload))
        default: break
        }
    }

    private mutating func handleClose(_ payload: [UInt8]) throws(Violation) {
        guard payload.count != 1 else { throw Violation(code: 1002, reason: "a close frame of one octet") }
        if payload.count >= 2 { observation.closeCode = UInt16(payload[0]) << 8 | UInt16(payload[1]) }
        // Like the suite, takes an invalid close frame for the client's fault and yet for its close.
        if let code = observation.closeCode, !Self.isAllowed(code) {
            fail(Violation(code: 1002, reason: "the close code \(code)"))
        }
        if String(validating: payload.dropFirst(2), as: UTF8.self) == nil {
            fail(Violation(code: 1007, reason: "a close reason that is not UTF-8"))
        }
        guard state != .closed else { return }
        observation.isClean = true
        if state == .closing { return drop() }
        Frame(opcode: .close, payload: [0x03, 0xE8]).encode(into: &output)
        flush()
        state = .closed
    }

    /// Whether an endpoint may send the code (RFC 6455 §7.4).
    private static func isAllowed(_ code: UInt16) -> Bool {
        switch code {
        case 1000...1003, 1007...1011, 3000...4999: true
        default: false
        }
    }
}
