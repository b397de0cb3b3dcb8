extension CaseSession {
    mutating func play(_ script: Script) {
        for step in script.steps {
            guard perform(step) else { break }
        }
        flush()
        let limit =
            switch script.limit {
            case .fail(let duration), .close(let duration): duration
            }
        read(until: .now + limit * pace.limits)
        if state != .closed { giveUp(script.limit) }
    }

    /// Performs a step; false if the script is over.
    private mutating func perform(_ step: Step) -> Bool {
        switch step {
        case .frame(let frame, .joined): frame.encode(into: &output)
        case .frame(let frame, let writing):
            flush()
            var bytes: [UInt8] = []
            frame.encode(into: &bytes)
            if case .chopped(let size) = writing {
                write(bytes, inPiecesOf: size)
            } else {
                write(bytes[...])
                socket.breathe()
            }
        case .beginFrame(let opcode, let length):
            Frame.encodeHeader(opcode, length: length, isFinal: false, reserved: 0, into: &output)
        case .octets(let octets): output += octets.bytes
        case .close(let payload): close(payload)
        case .wait(let duration, let name): return wait(duration * pace.waits, name)
        case .watch(let duration, let name): return wait(duration * pace.limits, name)
        }
        return true
    }

    private mutating func wait(_ duration: Duration, _ name: String?) -> Bool {
        flush()
        read(until: .now + duration)
        guard state == .open else { return false }
        if let name { observation.events.append(.waited(name)) }
        return true
    }

    mutating func play(_ exchange: Exchange) {
        if exchange.deflate != nil, deflater == nil {
            observation.result = .notOffered
            closeNormally()
        } else {
            sendNext(exchange)
        }
        read(until: .now + exchange.limit)
        if state != .closed { giveUp(.close(after: .zero)) }
    }

    private mutating func sendNext(_ exchange: Exchange) {
        lastSent = exchange.payload(sent)
        sent += 1
        let payload = deflater?.compress(lastSent) ?? lastSent
        let reserved: UInt8 = deflater == nil ? 0 : 4
        var fragmentSize: Int?
        if case .fragments(let size) = exchange.division { fragmentSize = size }
        for frame in Frame.fragments(exchange.opcode, payload, size: fragmentSize, reserved: reserved) {
            frame.encode(into: &output)
        }
        if case .chops(let size) = exchange.division {
            let bytes = output
            output = []
            write(bytes, inPiecesOf: size)
        } else {
            flush()
        }
    }

    // Reactions

    /// Reacts to a message or a pong of the client.
    mutating func react(to event: Event) {
        switch tested.play {
        case .script(let script):
            observation.events.append(event)
            let isMet = script.nonStrict == nil && observation.events == script.expected
            if isMet, script.closesWhenMet, tested.close.by == .server { closeNormally() }
        case .exchange(let exchange):
            if case .pong = event { return }
            guard observation.result == nil else { return }
            let isText = exchange.opcode == .text
            guard event == (isText ? .text(lastSent) : .binary(lastSent)) else {
                observation.result = .mismatch("message \(sent) came back as \(event), and was \(lastSent)")
                return closeNormally()
            }
            guard sent < min(exchange.count, messageLimit) else {
                observation.result = .completed
                return closeNormally()
            }
            sendNext(exchange)
        }
    }

    private mutating func closeNormally() {
        close([0x03, 0xE8])
        flush()
    }
}
