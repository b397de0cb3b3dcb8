/// The life of one transfer, as rules only: what happened goes in, what to do about it comes out. It touches
/// neither curl nor streams; ``Transfer`` performs what it says.
///
///     waiting → (head → interim head …) → body → ended
///
/// Whatever comes after the end is answered with "nothing to do".
struct TransferState {
    /// Where the answer stands.
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
    /// Bytes of all header lines so far.
    private(set) var headBytes = 0
    private var interimHeads = 0
    /// Bytes of the body that have been delivered.
    private(set) var decodedBytes = 0
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

    init(isRepeatable: Bool, limits: Limits = Limits()) {
        self.isRepeatable = isRepeatable
        self.limits = limits
    }

    var isOver: Bool { phase == .ended }

    // MARK: Sending

    /// The request is about to go out on a connection.
    ///
    /// On a reused connection that dies without a byte of an answer curl sends again by itself, whatever the
    /// method. That is right for what is idempotent only (RFC 9112 §9.3.1).
    ///
    /// - Returns: whether it may.
    mutating func willSend() -> Bool {
        guard !isOver else { return false }
        if isSent {
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

    enum HeadAction: Equatable {
        /// The line is of no interest.
        case skip
        /// Add the line to the head, or after the body to the trailers.
        case keep
        /// An informational head is complete: keep it, and deliver it and those held back.
        case deliverInterim
        /// An informational head is complete: keep it until the consumer resumes.
        case holdInterim
        /// The head is complete: deliver it, after the informational ones held back.
        case deliver
        /// Break the transfer off.
        case refuse
    }

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
            holdsHead = isPaused
            if isPaused { return .skip }
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

    // MARK: Body

    enum BodyAction: Equatable {
        /// Deliver the chunk, after the heads if they were held back.
        case deliver(headFirst: Bool)
        /// Let curl keep the chunk until the consumer resumes; it comes again then.
        case wait
        /// Keep the chunk until the consumer resumes.
        case spool
        /// Break the transfer off.
        case refuse
    }

    /// A decoded chunk came.
    ///
    /// - Parameters:
    ///   - canWait: whether curl can keep the chunk. Asked only when it matters.
    ///   - wireBytes: how many bytes of the body have been received, as they were encoded. Asked only when it
    ///     matters.
    mutating func receiveChunk(
        count: Int, isPaused: Bool, canWait: () -> Bool = { true }, wireBytes: () -> Int
    ) -> BodyAction {
        guard phase == .body, refusal == nil else { return .refuse }
        if isPaused, spooledChunks == 0, canWait() {
            holdsCurl = true
            return .wait
        }
        decodedBytes += count
        if decodedBytes > limits.expansionFloor,
            decodedBytes / limits.expansion > wireBytes()
        {
            refusal = .expanded
            return .refuse
        }
        if isPaused || spooledChunks > 0 {
            spooledChunks += 1
            spooledBytes += count
            guard spooledBytes <= limits.spoolBytes else {
                refusal = .spoolFull
                return .refuse
            }
            return .spool
        }
        defer { (holdsHead, heldInterimHeads) = (false, 0) }
        return .deliver(headFirst: holdsHead)
    }

    // MARK: Resuming

    enum ResumeAction: Equatable {
        /// Deliver the first informational head that was held back.
        case deliverInterim
        /// Deliver the head that was held back.
        case deliverHead
        /// Deliver the first chunk that was kept.
        case deliverSpooled
        /// Tell curl to go on.
        case unpause
        /// Deliver the trailers.
        case deliverTrailers
        /// Deliver the end that was held back.
        case finish
    }

    /// The consumer may have resumed. To be asked again after each action, since a consumer can pause anew
    /// at any event.
    mutating func resume(isPaused: Bool) -> ResumeAction? {
        guard !isOver, !isPaused else { return nil }
        if heldInterimHeads > 0 {
            heldInterimHeads -= 1
            return .deliverInterim
        }
        if holdsHead {
            holdsHead = false
            return .deliverHead
        }
        if spooledChunks > 0 {
            spooledChunks -= 1
            return .deliverSpooled
        }
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

    enum EndAction: Equatable {
        /// Deliver the end, after the heads if they were held back.
        case finish(headFirst: Bool)
        /// Deliver the failure.
        case fail
        /// Keep what the transfer took; what is left is delivered as ``resume(isPaused:)`` says.
        case wait
        /// The transfer has ended before.
        case nothing
    }

    /// curl says that the transfer is done.
    mutating func complete(succeeded: Bool, isPaused: Bool) -> EndAction {
        guard !isOver, !holdsEnd else { return .nothing }
        guard succeeded, refusal == nil, phase == .body else {
            phase = .ended
            return .fail
        }
        if isPaused || holdsTrailers || spooledChunks > 0 {
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
