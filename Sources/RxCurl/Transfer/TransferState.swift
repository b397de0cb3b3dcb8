/// The state machine of one transfer: its methods take events and return actions. It calls neither curl nor
/// streams; ``Transfer`` performs the actions.
///
///     statusLine → fieldLines → (statusLine → fieldLines …) → body → (delivering) → ended
///
/// After the end, every event results in no action.
struct TransferState {
    private(set) var phase = Phase.statusLine(held: 0)
    private(set) var sending = Sending.unsent
    /// The reason why the transfer was aborted by this side, if it was.
    private(set) var refusal: Refusal?

    private let limits: Limits
    /// Whether the request may be sent twice.
    let isRepeatable: Bool
    /// Whether the request asks for another protocol, so that 101 is a final response.
    private let asksForUpgrade: Bool
    /// Whether curl may receive a challenge of the proxy, once.
    private var awaitsChallenge: Bool
    /// The size of all header lines so far, in bytes.
    private(set) var headBytes = 0
    private var interimHeads = 0
    /// The number of body bytes that have been delivered.
    private(set) var decodedBytes = 0

    init(
        isRepeatable: Bool, asksForUpgrade: Bool = false, awaitsChallenge: Bool = false,
        limits: Limits = Limits()
    ) {
        self.isRepeatable = isRepeatable
        self.asksForUpgrade = asksForUpgrade
        self.awaitsChallenge = awaitsChallenge
        self.limits = limits
    }

    // MARK: Sending

    /// Notes that the request is about to be sent on a connection.
    ///
    /// If a reused connection fails without a byte of a response, curl sends the request again by itself,
    /// regardless of the method. This is allowed for idempotent requests (RFC 9112 §9.3.1), and for all if the
    /// server has certainly not processed the request (RFC 9113 §8.7).
    ///
    /// - Parameter isRefused: whether the server has certainly not processed what was sent before.
    /// - Returns: whether the request may be sent.
    mutating func willSend(isRefused: Bool = false) -> Bool {
        guard !isOver else { return false }
        // A proxy that sends a challenge has not forwarded the request.
        if isSent, !isChallenged {
            guard isRepeatable || isRefused, !hasHead else {
                refusal = .sentTwice
                return false
            }
            sending = .again
        } else if !isSent {
            sending = .once
        }
        phase = .statusLine(held: 0)
        return true
    }

    // MARK: Head

    /// Takes a status line, or the line in its place.
    ///
    /// - Parameters:
    ///   - status: the status code; `nil` if the line does not have one.
    ///   - asksFirst: whether the request has the expectation `100-continue`, and can be sent again without
    ///     it if the server does not support it (417).
    mutating func receiveStatusLine(
        status: Int?, byteCount: Int, asksFirst: Bool = false
    ) -> HeadAction {
        guard admit(byteCount) else { return .refuse }
        guard case .statusLine(let held) = phase else { return .skip }
        guard let status, (100...999).contains(status) else { return refuse(.malformedStatusLine) }
        guard status != 101 || asksForUpgrade else { return refuse(.switchedProtocols) }
        if status == 417, asksFirst { return refuse(.expectation) }
        if status < 200, status != 101 {
            interimHeads += 1
            guard interimHeads <= limits.interimHeads else { return refuse(.tooManyInterimHeads) }
            phase = .fieldLines(.interim, held: held)
        } else if status == 407, awaitsChallenge {
            awaitsChallenge = false
            phase = .fieldLines(.challenge, held: held)
        } else {
            phase = .fieldLines(.final, held: held)
        }
        return .skip
    }

    /// Takes a field line or a trailer.
    ///
    /// - Parameter keepsLengthCertain: whether the length of the body is still certain after this line.
    mutating func receiveFieldLine(byteCount: Int, keepsLengthCertain: Bool = true) -> HeadAction {
        guard admit(byteCount) else { return .refuse }
        switch phase {
        case .fieldLines(.interim, _): return .keep
        case .fieldLines: return keepsLengthCertain ? .keep : refuse(.uncertainLength)
        case .body(var body, let holdsCurl):
            body.hasTrailers = true
            phase = .body(body, holdsCurl: holdsCurl)
            return .keep
        case .statusLine, .delivering, .ended: return .skip
        }
    }

    /// Takes the empty line after the field lines.
    mutating func receiveEndOfHead(byteCount: Int, isPaused: Bool) -> HeadAction {
        guard admit(byteCount) else { return .refuse }
        guard case .fieldLines(let head, let held) = phase else { return .skip }
        switch head {
        case .interim:
            phase = .statusLine(held: isPaused ? held + 1 : 0)
            return isPaused ? .holdInterim : .deliverInterim
        case .final:
            phase = .body(Body(heads: isPaused ? .held(interim: held) : .none), holdsCurl: false)
            return isPaused ? .skip : .deliver
        case .challenge:
            phase = .body(Body(heads: .challenge(interim: held)), holdsCurl: false)
            return .skip
        }
    }

    private mutating func admit(_ byteCount: Int) -> Bool {
        guard !isOver, refusal == nil else { return false }
        headBytes += byteCount
        if headBytes > limits.headBytes { refusal = .headTooLarge }
        return refusal == nil
    }

    private mutating func refuse(_ reason: Refusal) -> HeadAction {
        refusal = reason
        return .refuse
    }

    /// Notes that the response is refused.
    mutating func refuse(_ reason: Refusal) { refusal = reason }

    // MARK: Body

    /// Takes a chunk.
    ///
    /// - Parameter canWait: whether curl can keep the chunk. Called only if it matters.
    mutating func receiveChunk(
        count: Int, isPaused: Bool, canWait: () -> Bool = { true }
    ) -> BodyAction {
        guard case .body(var body, var holdsCurl) = phase, refusal == nil else { return .refuse }
        defer { phase = .body(body, holdsCurl: holdsCurl) }
        body.accept()
        let mustWait = isPaused || body.coding == .pending
        if mustWait, body.backlogCount == 0, canWait() {
            holdsCurl = true
            return .wait
        }
        if body.coding == .identity { decodedBytes += count }
        if mustWait || body.backlogCount > 0 {
            body.backlogCount += 1
            body.backlogBytes += count
            guard body.backlogBytes <= limits.backlogBytes else {
                refusal = .backlogFull
                return .refuse
            }
            return .appendToBacklog
        }
        return .deliver(headFirst: body.takeHeads())
    }

    /// Notes that a chunk has been taken from the backlog.
    mutating func removeFromBacklog(_ count: Int) { updateBody { $0.backlogBytes -= count } }

    /// Notes that the body is decoded from here on.
    mutating func beginDecoding() { updateBody { $0.coding = .decoded(brokenOff: nil) } }

    /// Notes that bytes have been taken that must be decoded.
    mutating func receiveCoded() { updateBody { $0.coding = .pending } }

    /// Notes that a piece of the body has been decoded.
    ///
    /// - Parameters:
    ///   - isPending: whether there may be another piece.
    ///   - brokenOff: a coding that is incomplete if the body ends here.
    mutating func receiveDecoded(count: Int, isPending: Bool, brokenOff: ContentCoding?) {
        decodedBytes += count
        updateBody { $0.coding = isPending ? .pending : .decoded(brokenOff: brokenOff) }
    }

    private mutating func updateBody(_ change: (inout Body) -> Void) {
        switch phase {
        case .body(var body, let holdsCurl):
            change(&body)
            phase = .body(body, holdsCurl: holdsCurl)
        case .delivering(var body):
            change(&body)
            phase = .delivering(body)
        case .statusLine, .fieldLines, .ended: break
        }
    }

    /// Refuses a body that ends in the middle of a coding, regardless of its framing.
    private mutating func refuseBrokenOff(_ body: Body) -> Bool {
        guard let brokenOff = body.brokenOff else { return false }
        refusal = .brokenOff(brokenOff)
        phase = .ended
        return true
    }

    // MARK: Resuming

    /// Returns the next action when the consumer may have resumed. Must be called again after each action,
    /// because a consumer can pause again at any event.
    mutating func resume(isPaused: Bool) -> ResumeAction? {
        guard !isPaused else { return nil }
        switch phase {
        case .statusLine(let held):
            guard held > 0 else { return nil }
            phase = .statusLine(held: held - 1)
            return .deliverInterim
        case .fieldLines(let head, let held):
            guard held > 0, head != .challenge else { return nil }
            phase = .fieldLines(head, held: held - 1)
            return .deliverInterim
        case .body(var body, let holdsCurl):
            if let action = body.resume() {
                phase = .body(body, holdsCurl: holdsCurl)
                return action
            }
            phase = .body(body, holdsCurl: false)
            return holdsCurl ? .unpause : nil
        case .delivering(var body):
            if let action = body.resume() {
                phase = .delivering(body)
                return action
            }
            if refuseBrokenOff(body) { return .fail }
            if body.hasTrailers {
                body.hasTrailers = false
                phase = .delivering(body)
                return .deliverTrailers
            }
            phase = .ended
            return .finish
        case .ended: return nil
        }
    }

    // MARK: End

    /// Notes that curl has completed the transfer.
    mutating func complete(succeeded: Bool, isPaused: Bool) -> EndAction {
        switch phase {
        case .delivering, .ended: return .nothing
        case .body(var body, _) where succeeded && refusal == nil:
            body.accept()
            if refuseBrokenOff(body) { return .fail }
            if isPaused || body.hasTrailers || !body.isDrained {
                phase = .delivering(body)
                return .wait
            }
            phase = .ended
            return .finish(headFirst: body.takeHeads())
        case .statusLine, .fieldLines, .body:
            phase = .ended
            return .fail
        }
    }

    /// Aborts the transfer from outside: it was cancelled, timed out or shut down.
    ///
    /// - Returns: whether it was still running.
    mutating func breakOff() -> Bool {
        guard !isOver else { return false }
        phase = .ended
        return true
    }
}
