import RxHTTP

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
    /// The size of all header lines so far, in bytes. When curl sends again it goes on counting, so 0 means
    /// that nothing of any response has arrived.
    private(set) var headBytes = 0
    private var interimHeads = 0
    /// The number of informational responses that the content sent so far allows for.
    private var interimAllowance = 0
    /// The size that each of these may have. The documentation of ``CurlTransport/Configuration/interimLimit`` tells
    /// it, and the 4 KiB of content for each.
    private static let interimAllowanceSize = 512
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

    // MARK: - Sending

    /// Records that the request is about to be sent on a connection.
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
                refusal = .repetitionForbidden
                return false
            }
            sending = .again
        } else if !isSent {
            sending = .once
        }
        phase = .statusLine(held: 0)
        return true
    }

    // MARK: - Head

    /// Takes a status line, or the line in its place.
    ///
    /// - Parameters:
    ///   - status: the status code; `nil` if the line does not have one.
    ///   - asksFirst: whether the request has the expectation `100-continue`, and can be sent again without
    ///     it if the server does not support it (417).
    ///   - sentBytes: the number of bytes of the content that have been sent. A server may report its progress by
    ///     informational responses, so that each 4 KiB allow for one more.
    mutating func receiveStatusLine(
        status: Int?, byteCount: Int, asksFirst: Bool = false, sentBytes: Int64 = 0
    ) -> HeadAction {
        interimAllowance = max(interimAllowance, Int(clamping: sentBytes / 4096))
        guard admit(byteCount) else { return .refuse }
        guard case .statusLine(let held) = phase else { return .skip }
        guard let status, (100...999).contains(status) else { return refuse(.malformedStatusLine) }
        guard status != 101 || asksForUpgrade else { return refuse(.switchedProtocols) }
        if status == 417, asksFirst { return refuse(.expectation) }
        if status < 200, status != 101 {
            interimHeads += 1
            guard interimHeads - interimAllowance <= limits.interimHeads else {
                return refuse(.tooManyInterimHeads)
            }
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
        if headBytes - interimAllowance * Self.interimAllowanceSize > limits.headBytes {
            refusal = .headTooLarge
        }
        return refusal == nil
    }

    private mutating func refuse(_ reason: Refusal) -> HeadAction {
        refusal = reason
        return .refuse
    }

    /// Records that the response is refused.
    mutating func refuse(_ reason: Refusal) { refusal = reason }

    // MARK: - Body

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

    /// Records the bytes of a chunk that has been taken from the backlog; ``Body/resume()`` has already
    /// counted the chunk out.
    mutating func removeFromBacklog(_ count: Int) { updateBody { $0.backlogBytes -= count } }

    /// Records that the body is decoded from here on.
    mutating func beginDecoding() { updateBody { $0.coding = .decoded(brokenOff: nil) } }

    /// Records that bytes have been taken that must be decoded.
    mutating func receiveCoded() { updateBody { $0.coding = .pending } }

    /// Records that a piece of the body has been decoded.
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

    // MARK: - Resuming

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

    // MARK: - End

    /// Records that curl has completed the transfer.
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
    mutating func abort() -> Bool {
        guard !isOver else { return false }
        phase = .ended
        return true
    }
}

extension TransferState {
    /// The progress of the response.
    ///
    /// `held` is the number of informational heads that are complete but held back because the consumer has
    /// paused; ``ReceivedResponse/interim`` has just these.
    enum Phase: Equatable {
        /// A status line comes next.
        case statusLine(held: Int)
        /// Field lines of a head come next.
        case fieldLines(Head, held: Int)
        /// The final head is complete. `holdsCurl` if curl has been told to wait.
        case body(Body, holdsCurl: Bool)
        /// curl has completed the transfer; ``resume(isPaused:)`` delivers the rest.
        case delivering(Body)
        /// Nothing more is delivered.
        case ended
    }

    /// The kind of head whose lines are being received.
    enum Head: Equatable {
        /// An informational one.
        case interim
        /// The final head.
        case final
        /// The final head, unless curl answers the challenge of the proxy in it.
        case challenge
    }

    /// How often the request may have reached a server.
    enum Sending: Equatable {
        case unsent, once, again
    }

    var isOver: Bool { if case .ended = phase { true } else { false } }

    /// Whether a status line comes next.
    var awaitsStatusLine: Bool { if case .statusLine = phase { true } else { false } }

    /// Whether the final head is complete, and the end has not been delivered.
    var hasHead: Bool {
        switch phase {
        case .body, .delivering: true
        case .statusLine, .fieldLines, .ended: false
        }
    }

    /// Whether the response is a challenge of the proxy: curl sends the request again, or passes the response
    /// on.
    var isChallenged: Bool {
        switch phase {
        case .fieldLines(let head, _): head == .challenge
        case .body(let body, _): body.isChallenge
        case .statusLine, .delivering, .ended: false
        }
    }

    /// Whether the request may have reached a server. If not, the error is ``NetworkError/isUnsent``, and retries and
    /// the outbox may send the request again whatever its method.
    var isSent: Bool { sending != .unsent }
    /// Whether curl sent the request more than once.
    var isResent: Bool { sending == .again }
}

extension TransferState {
    /// The part of the response from the end of its head on that has arrived and not been delivered.
    struct Body: Equatable {
        /// The heads that have not been delivered.
        enum Heads: Equatable {
            case none
            /// The consumer paused before the final head, and before this number of informational heads.
            case held(interim: Int)
            /// The response is a challenge of the proxy: curl sends the request again, or passes the response
            /// on.
            case challenge(interim: Int)
        }

        /// The state of the body's decoding.
        enum Coding: Equatable {
            /// The body is delivered as received.
            case identity
            /// Bytes have been taken that must still be decoded.
            case pending
            /// All bytes have been decoded; a coding that is incomplete if the body ends here.
            case decoded(brokenOff: ContentCoding?)
        }

        var heads: Heads
        var coding = Coding.identity
        /// The number of chunks and bytes in the ``Backlog``.
        var backlogCount = 0
        var backlogBytes = 0
        /// Whether there are trailers, which are delivered before the end.
        var hasTrailers = false

        init(heads: Heads) { self.heads = heads }

        var isChallenge: Bool { if case .challenge = heads { true } else { false } }

        /// Whether all received bytes have been delivered.
        var isDrained: Bool { coding != .pending && backlogCount == 0 }

        /// The coding that is incomplete if the body ends here.
        var brokenOff: ContentCoding? {
            if backlogCount == 0, case .decoded(let brokenOff) = coding { brokenOff } else { nil }
        }

        /// Records that curl passes the response on, though it may have been a challenge.
        mutating func accept() {
            if case .challenge(let interim) = heads { heads = .held(interim: interim) }
        }

        /// Clears the heads, which are delivered now; false if there are none.
        mutating func takeHeads() -> Bool {
            defer { heads = .none }
            return heads != .none
        }

        /// The next part of the received response to deliver or to decode. ``TransferState/resume(isPaused:)`` delivers
        /// interim responses likewise while the final one is being read; change both.
        mutating func resume() -> ResumeAction? {
            switch heads {
            case .challenge: return nil
            case .held(let interim) where interim > 0:
                heads = .held(interim: interim - 1)
                return .deliverInterim
            case .held:
                heads = .none
                return .deliverHead
            case .none: break
            }
            if coding == .pending { return .deliverDecoded }
            guard backlogCount > 0 else { return nil }
            backlogCount -= 1
            return .deliverBacklog
        }
    }
}

extension TransferState {
    /// The actions for a line of a head.
    enum HeadAction: Equatable {
        /// Ignore the line.
        case skip
        /// Add the line to the head, or after the body to the trailers.
        case keep
        /// An informational head is complete: keep it, and deliver it together with those held back.
        case deliverInterim
        /// An informational head is complete: keep it until the consumer resumes.
        case holdInterim
        /// The head is complete: deliver it, after the informational heads that were held back.
        case deliver
        /// Abort the transfer.
        case refuse
    }

    /// The actions for a chunk.
    enum BodyAction: Equatable {
        /// Deliver the chunk, after the heads if they were held back.
        case deliver(headFirst: Bool)
        /// Let curl keep the chunk until the consumer resumes; curl then passes it again.
        case wait
        /// Append the chunk to the backlog until the consumer resumes.
        case appendToBacklog
        /// Abort the transfer.
        case refuse
    }

    /// The actions when the consumer resumes.
    enum ResumeAction: Equatable {
        /// Decode a piece of the last chunk, and deliver it.
        case deliverDecoded
        /// Deliver the failure: the body is incomplete.
        case fail
        /// Deliver the first informational head that was held back.
        case deliverInterim
        /// Deliver the head that was held back.
        case deliverHead
        /// Deliver the first chunk of the backlog.
        case deliverBacklog
        /// Tell curl to continue.
        case unpause
        /// Deliver the trailers.
        case deliverTrailers
        /// Deliver the end that was held back.
        case finish
    }

    /// The actions when curl has completed the transfer.
    enum EndAction: Equatable {
        /// Deliver the end, after the heads if they were held back.
        case finish(headFirst: Bool)
        /// Deliver the failure.
        case fail
        /// Keep the results; ``resume(isPaused:)`` delivers the rest.
        case wait
        /// The transfer had already ended.
        case nothing
    }
}

extension TransferState {
    /// The reason why a transfer is aborted because of the server or curl.
    enum Refusal: Equatable {
        /// More header bytes than ``Limits/headBytes``.
        case headTooLarge
        /// More informational responses than ``Limits/interimHeads``.
        case tooManyInterimHeads
        /// A head that does not begin with a status line.
        case malformedStatusLine
        /// A `Content-Length` that is not a number, or several different ones.
        case uncertainLength
        /// A 101 that was not requested (RFC 9110 §15.2.2).
        case switchedProtocols
        /// A body that grows more than ``ContentDecoding/Limits`` allow.
        case expanded
        /// A body that does not match the coding in its head.
        case malformedContent(ContentCoding)
        /// A body that ends in the middle of a coding.
        case brokenOff(ContentCoding)
        /// A head that libcurl would refuse, on a connection that is to change its protocol.
        case malformedHead
        /// A chunk without its size there.
        case malformedChunk
        /// A transfer coding other than `chunked` there.
        case unknownTransferCoding
        /// A body without a length whose end did not arrive, though curl reports it as complete.
        case cutOff
        /// More codings than ``ContentCoding/limit``.
        case tooManyCodings
        /// The server does not support the expectation `100-continue` (417).
        case expectation
        /// A backlog over ``Limits/backlogBytes``.
        case backlogFull
        /// curl is about to send a request again that may be sent only once.
        case repetitionForbidden
        /// curl is about to send content again that can be read only once.
        case contentGone
    }

    /// The limits of a transfer, which has those of its configuration; the defaults are the same.
    struct Limits: Equatable {
        /// The size of all header lines in bytes, including informational heads and trailers.
        var headBytes = 256 << 10
        /// The number of informational heads before the final one.
        var interimHeads = 100
        /// The maximum size of the backlog in bytes.
        var backlogBytes = 64 << 20
    }
}

extension TransferState.Limits {
    init(_ configuration: CurlTransport.Configuration) {
        headBytes = configuration.headerLimit
        interimHeads = configuration.interimLimit
        backlogBytes = configuration.http2BacklogLimit
    }
}

extension TransferState {
    /// The state of a transfer that has not begun.
    init(of request: borrowing Request, on multi: borrowing Multi) {
        self.init(
            isRepeatable: request.isIdempotent, asksForUpgrade: request.asksForUpgrade,
            awaitsChallenge: multi.configuration.proxy.usesDigest,
            limits: .init(multi.configuration))
    }
}
