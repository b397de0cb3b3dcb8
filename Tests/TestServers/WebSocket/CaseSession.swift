/// The connection of one case: it opens, performs the actions, keeps the state of the closing handshake, and
/// records what the client does.
struct CaseSession: ~Copyable {
    enum State {
        case open
        /// The server has sent a close frame.
        case closing
        case closed
    }

    let tested: AutobahnCase
    let pace: Pace
    /// The largest number of messages of an exchange.
    let messageLimit: Int
    var socket: CaseSocket
    var reader = FrameReader()
    var assembler = MessageAssembler()
    var deflater: MessageDeflater?
    var state = State.open
    var observation = Observation()
    /// The octets of frames that go out in one write.
    var output: [UInt8] = []
    /// The end of the time for the client's answer to a close frame.
    var closeDeadline: ContinuousClock.Instant?
    /// The messages of an exchange that have been sent.
    var sent = 0
    /// The payload of the last one.
    var lastSent: Octets = []
    /// Whether the connection ends with RST.
    var isReset = false

    init(_ tested: AutobahnCase, over socket: consuming CaseSocket, pace: Pace, messageLimit: Int) {
        self.tested = tested
        self.pace = pace
        self.messageLimit = messageLimit
        self.socket = socket
    }

    /// Reads a request and plays the case that it asks for until the connection is over. Returns the number
    /// of the case, from 1, and `nil` if the request names none.
    static func serve(
        _ cases: [AutobahnCase], over connection: consuming CaseSocket, pace: Pace, messageLimit: Int
    ) -> (number: Int, observation: Observation)? {
        var socket = connection
        let limit = ContinuousClock.now + .seconds(5) * pace.limits
        guard let head = Handshake.readHead(from: &socket, until: limit) else { return nil }
        var refusal = UpgradeRequest.Refusal(reason: "no number of a case")
        do throws(UpgradeRequest.Refusal) {
            let request = try UpgradeRequest(head)
            refusal.caseNumber = request.caseNumber
            if let number = request.caseNumber, cases.indices.contains(number - 1) {
                var session = CaseSession(
                    cases[number - 1], over: socket, pace: pace, messageLimit: messageLimit)
                return (number, session.play(request))
            }
        } catch {
            refusal = error
        }
        Handshake.refuse(over: &socket)
        guard let number = refusal.caseNumber, cases.indices.contains(number - 1) else { return nil }
        return (number, Observation(complaint: refusal.reason))
    }

    private mutating func play(_ request: UpgradeRequest) -> Observation {
        do throws(DeflateOffer.Invalid) {
            try open(request)
        } catch {
            observation.complaint = error.reason
            Handshake.refuse(over: &socket)
            return observation
        }
        switch tested.play {
        case .script(let script): play(script)
        case .exchange(let exchange): play(exchange)
        }
        finish()
        return observation
    }

    private mutating func open(_ request: UpgradeRequest) throws(DeflateOffer.Invalid) {
        var agreement: DeflateAgreement?
        if case .exchange(let exchange) = tested.play, let requests = exchange.deflate {
            agreement = DeflateRequest.agree(requests, on: try DeflateOffer.all(in: request.extensions))
        }
        if let agreement {
            deflater = MessageDeflater(
                bits: agreement.offer.serverBits ?? 15, keepsContext: !agreement.offer.serverWithoutContext)
            assembler.inflater = MessageInflater(
                bits: agreement.request.clientBits ?? 15,
                keepsContext: !agreement.request.clientWithoutContext)
        }
        write(request.response(extensions: agreement?.field)[...])
        observation.isOpen = state == .open
    }

    // Sending

    /// Sends what has gathered in ``output``.
    mutating func flush() {
        guard !output.isEmpty else { return }
        let bytes = output
        output = []
        write(bytes[...])
    }

    /// Writes the bytes at once. If that fails, what the client has sent before is still read.
    mutating func write(_ bytes: ArraySlice<UInt8>) {
        guard state != .closed else { return }
        _ = socket.send(bytes, until: .now + pace.silence)
    }

    mutating func write(_ bytes: [UInt8], inPiecesOf size: Int) {
        for start in stride(from: 0, to: bytes.count, by: size) where state != .closed {
            guard socket.send(bytes[start..<min(start + size, bytes.count)], until: .now + pace.silence)
            else { return }
            socket.breathe()
        }
    }

    // Closing

    /// Begins the closing handshake, unless it has begun.
    mutating func close(_ payload: Octets) {
        guard state == .open else { return }
        Frame(opcode: .close, payload: payload).encode(into: &output)
        state = .closing
        observation.isClosedByServer = true
        closeDeadline = .now + .seconds(1) * pace.limits
    }

    /// Fails the connection: with a close frame, or by dropping it if there was one already.
    mutating func fail(_ violation: Violation) {
        guard state != .closed else { return }
        if observation.complaint == nil { observation.complaint = violation.reason }
        if state == .closing { return drop() }
        close(Octets([UInt8(violation.code >> 8), UInt8(violation.code & 0xFF)]))
        flush()
    }

    mutating func drop() {
        state = .closed
        isReset = true
    }

    /// Ends a connection that the client has left open until the limit of the case.
    mutating func giveUp(_ limit: Script.Limit) {
        guard state == .open else { return drop() }
        switch limit {
        case .fail: close([0x03, 0xE9])
        case .close: close([])
        }
        flush()
        read(until: .now + pace.silence)
    }

    private mutating func finish() {
        if isReset { return socket.reset() }
        // The client may still be sending; a close with unread bytes would reset the connection.
        socket.endSending()
        let deadline = ContinuousClock.now + .seconds(1) * pace.limits
        while case .bytes = socket.receive(until: deadline) {}
    }
}
