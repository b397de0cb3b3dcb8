/// The life of one transfer, as rules only: what happened goes in, what to do about it comes out. It touches
/// neither curl nor streams; ``Transfer`` performs what it says.
///
///     waiting → (head → interim head …) → body → ended
///
/// Whatever comes after the end yields "nothing to do".
struct TransferState {
    /// How far the response has come.
    enum Phase: Equatable {
        /// A status line comes next.
        case statusLine
        /// Field lines of a head come next; of an informational one if `isInterim`.
        case fieldLines(isInterim: Bool)
        /// The final head is complete.
        case body
        /// Nothing is delivered any more.
        case ended
    }

    private(set) var phase = Phase.statusLine
    /// Why the transfer was broken off from here, if it was.
    private(set) var refusal: Refusal?
    /// Whether the request may have reached a server.
    private(set) var isSent = false
    /// Whether curl sent the request more than once.
    private(set) var isResent = false

    private let limits: Limits
    /// Whether sending the request twice does no harm.
    private let isRepeatable: Bool
    /// Whether curl may meet a challenge of the proxy's, once.
    private var awaitsChallenge: Bool
    /// The response is a challenge of the proxy's: curl sends the request again, or hands the response out.
    private(set) var isChallenged = false
    /// Bytes of all header lines so far.
    private(set) var headBytes = 0
    private var interimHeads = 0
    /// Bytes of the body that have been delivered.
    private(set) var decodedBytes = 0
    /// The body is decoded here; ``receiveDecoded(count:isPending:brokenOff:)`` counts its bytes.
    private var isCoded = false
    /// Bytes have been taken that are still to be decoded.
    private var holdsCoded = false
    /// A coding that the body breaks off in, should it end here.
    private var brokenOff: ContentCoding?
    /// Informational heads that are complete but that the consumer paused before.
    private var heldInterimHeads = 0
    /// The head is complete but the consumer paused before it.
    private var holdsHead = false
    /// Chunks that the consumer paused before and that curl cannot keep.
    private var spooledChunks = 0
    var spooledBytes = 0
    /// curl has been told to wait.
    private var holdsCurl = false
    /// Trailers came, which are delivered before the end.
    private var holdsTrailers = false
    /// The transfer is complete but something has to be delivered before, or the consumer paused.
    private var holdsEnd = false

    init(isRepeatable: Bool, awaitsChallenge: Bool = false, limits: Limits = Limits()) {
        self.isRepeatable = isRepeatable
        self.awaitsChallenge = awaitsChallenge
        self.limits = limits
    }

    var isOver: Bool { phase == .ended }

    // MARK: Sending

    /// The request is about to go out on a connection.
    ///
    /// On a reused connection that dies without a byte of a response curl sends again by itself, whatever the
    /// method. That is right for what is idempotent only (RFC 9112 §9.3.1).
    ///
    /// - Returns: whether it may.
    mutating func willSend() -> Bool {
        guard !isOver else { return false }
        if isChallenged {
            // The proxy has passed nothing on.
            isChallenged = false
            holdsHead = false
            phase = .statusLine
        } else if isSent {
            guard isRepeatable, phase != .body else {
                refusal = .sentTwice
                return false
            }
            isResent = true
            phase = .statusLine
            heldInterimHeads = 0
            holdsTrailers = false
        }
        isSent = true
        return true
    }

    // MARK: Head

    /// A status line came, or what stands in its place.
    ///
    /// - Parameters:
    ///   - status: the status code, `nil` if the line does not have one.
    ///   - asksFirst: whether the server has been asked if it takes the content, and can be sent the request again
    ///     without if it refuses the question (417).
    mutating func receiveStatusLine(
        status: Int?, byteCount: Int, asksFirst: Bool = false
    ) -> HeadAction {
        guard admit(byteCount) else { return .refuse }
        guard let status, (100...999).contains(status) else { return refuse(.malformedStatusLine) }
        guard status != 101 else { return refuse(.switchedProtocols) }
        if status == 417, asksFirst { return refuse(.expectation) }
        if status == 407, awaitsChallenge { (isChallenged, awaitsChallenge) = (true, false) }
        let isInterim = status < 200
        if isInterim {
            interimHeads += 1
            guard interimHeads <= limits.interimHeads else { return refuse(.tooManyInterimHeads) }
        }
        phase = .fieldLines(isInterim: isInterim)
        return .skip
    }

    /// A field line came, or a trailer.
    ///
    /// - Parameter keepsLengthCertain: whether one still knows how long the body is.
    mutating func receiveFieldLine(byteCount: Int, keepsLengthCertain: Bool = true) -> HeadAction {
        guard admit(byteCount) else { return .refuse }
        switch phase {
        case .fieldLines(isInterim: false): return keepsLengthCertain ? .keep : refuse(.uncertainLength)
        case .fieldLines(isInterim: true): return .keep
        case .body:
            holdsTrailers = true
            return .keep
        case .statusLine, .ended: return .skip
        }
    }

    /// The empty line after the field lines came.
    mutating func receiveEndOfHead(byteCount: Int, isPaused: Bool) -> HeadAction {
        guard admit(byteCount) else { return .refuse }
        switch phase {
        case .fieldLines(isInterim: true):
            phase = .statusLine
            heldInterimHeads = isPaused ? heldInterimHeads + 1 : 0
            return isPaused ? .holdInterim : .deliverInterim
        case .fieldLines(isInterim: false):
            phase = .body
            holdsHead = isPaused || isChallenged
            if holdsHead { return .skip }
            heldInterimHeads = 0
            return .deliver
        case .statusLine, .body, .ended:
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

    /// What the server sent is not accepted.
    mutating func refuse(_ reason: Refusal) { refusal = reason }

    // MARK: Body

    /// A chunk came.
    ///
    /// - Parameter canWait: whether curl can keep the chunk. Asked only when it matters.
    mutating func receiveChunk(
        count: Int, isPaused: Bool, canWait: () -> Bool = { true }
    ) -> BodyAction {
        guard phase == .body, refusal == nil else { return .refuse }
        isChallenged = false
        if isPaused || holdsCoded, spooledChunks == 0, canWait() {
            holdsCurl = true
            return .wait
        }
        if !isCoded { decodedBytes += count }
        if isPaused || holdsCoded || spooledChunks > 0 {
            spooledChunks += 1
            spooledBytes += count
            guard spooledBytes <= limits.spoolBytes else {
                refusal = .spoolFull
                return .refuse
            }
            return .pausedChunks
        }
        defer { (holdsHead, heldInterimHeads) = (false, 0) }
        return .deliver(headFirst: holdsHead)
    }

    /// The body is decoded from here on.
    mutating func beginDecoding() { isCoded = true }

    /// Bytes have been taken that are to be decoded.
    mutating func receiveCoded() { holdsCoded = true }

    /// A piece of the body has been decoded.
    ///
    /// - Parameters:
    ///   - isPending: whether there may be another one.
    ///   - brokenOff: a coding that the body breaks off in, should it end here.
    mutating func receiveDecoded(count: Int, isPending: Bool, brokenOff: ContentCoding?) {
        decodedBytes += count
        holdsCoded = isPending
        self.brokenOff = brokenOff
    }

    /// Whether everything that came has been handed on.
    private var isDrained: Bool { !holdsCoded && spooledChunks == 0 }

    /// Refuses a body that ends in the middle of a coding, whatever its framing says.
    private mutating func refuseBrokenOff() -> Bool {
        guard isDrained, let brokenOff else { return false }
        refusal = .brokenOff(brokenOff)
        phase = .ended
        return true
    }

    // MARK: Resuming

    /// The consumer may have resumed. To be asked again after each action, since a consumer can pause anew
    /// at any event.
    mutating func resume(isPaused: Bool) -> ResumeAction? {
        guard !isOver, !isPaused, !isChallenged else { return nil }
        if heldInterimHeads > 0 {
            heldInterimHeads -= 1
            return .deliverInterim
        }
        if holdsHead {
            holdsHead = false
            return .deliverHead
        }
        if holdsCoded { return .deliverDecoded }
        if spooledChunks > 0 {
            spooledChunks -= 1
            return .deliverSpooled
        }
        if holdsEnd, refuseBrokenOff() { return .fail }
        if holdsEnd, holdsTrailers {
            holdsTrailers = false
            return .deliverTrailers
        }
        if holdsEnd {
            phase = .ended
            return .finish
        }
        if holdsCurl {
            holdsCurl = false
            return .unpause
        }
        return nil
    }

    // MARK: End

    /// curl says that the transfer is done.
    mutating func complete(succeeded: Bool, isPaused: Bool) -> EndAction {
        guard !isOver, !holdsEnd else { return .nothing }
        isChallenged = false
        guard succeeded, refusal == nil, phase == .body else {
            phase = .ended
            return .fail
        }
        if refuseBrokenOff() { return .fail }
        if isPaused || holdsTrailers || !isDrained {
            holdsEnd = true
            return .wait
        }
        phase = .ended
        defer { (holdsHead, heldInterimHeads) = (false, 0) }
        return .finish(headFirst: holdsHead)
    }

    /// The transfer is called off from outside: cancelled, timed out or shut down.
    ///
    /// - Returns: whether it was still running.
    mutating func breakOff() -> Bool {
        guard !isOver else { return false }
        phase = .ended
        return true
    }
}
