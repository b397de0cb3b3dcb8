import CLibcurl
import HTTPTypes
import RxHTTP
import RxLite
import RxLoop

/// The content that a transfer sends after the head.
enum TransferContent {
    /// No content; for methods that define content, an empty one.
    case none
    /// A small body, copied once and sent in one go with the head (`CURLOPT_POSTFIELDS`).
    case inline([UInt8])
    /// A body that curl reads in parts (`CURLOPT_READFUNCTION`).
    case streamed(ContentSource)

    /// The maximum size of an inline body, in bytes: the size of the buffer that ``EasyHandle`` has for it.
    static let inlineLimit = 64 << 10

    /// Creates the content of a body in memory.
    init(_ bytes: [UInt8]) {
        if bytes.isEmpty {
            self = .none
        } else if bytes.count <= Self.inlineLimit {
            self = .inline(bytes)
        } else {
            let count = Int64(bytes.count)
            self = .streamed(ContentSource(.chunks(.just(bytes)), length: count, isReplayable: true))
        }
    }

    /// Creates the content of a body that has been opened.
    init(_ content: StreamedBody.Content, isReplayable: Bool) {
        let input: ContentSource.Input
        if let file = content.file, let files = file.files as? LoopFileSystem {
            input = .file(file, files)
        } else {
            input = .chunks(content.chunks)
        }
        self = .streamed(ContentSource(input, length: content.length, isReplayable: isReplayable))
    }

    /// The number of bytes; `nil` if unknown.
    var length: Int64? {
        switch self {
        case .none: 0
        case .inline(let bytes): Int64(bytes.count)
        case .streamed(let source): source.length
        }
    }

    var source: ContentSource? {
        if case .streamed(let source) = self { source } else { nil }
    }

    /// How the header fields describe the content.
    func framing(of request: Request) -> Framing {
        switch self {
        case .none:
            // For the same methods ``EasyHandle/setContent(_:method:)`` makes curl send empty content.
            switch request.method {
            case .post, .put, .patch: .known
            default: .none
            }
        case .inline, .streamed: length == nil ? .chunked : .known
        }
    }

    /// How the end of the content is marked.
    enum Framing: Equatable {
        /// There is no content.
        case none
        /// By its length.
        case known
        /// By its last chunk (RFC 9112 §7.1).
        case chunked
    }
}

extension Transfer {
    /// Copies the next bytes of a streamed body to curl.
    func readContent(into buffer: UnsafeMutableRawBufferPointer) -> ContentSource.Supply {
        guard let source = content.source else { return .end }
        multi.sockets.recordContentRead()
        return unsafe source.read(into: buffer, for: self)
    }

    /// Decides whether the request asks the server before it sends the content. Over HTTP/2 a server refuses
    /// content by closing the stream, so curl would wait in vain.
    func decideToAsk() {
        let policy = request.continuePolicy
        let isAsked = expectation.isAllowed && policy.asks(before: content.length) && speaksHTTP1
        expectation.wait = isAsked ? policy.wait : nil
    }

    /// Whether the request asks, but it is not known whether there is any content.
    var awaitsContent: Bool { expectation.wait != nil && content.source.map { $0.length == nil } ?? false }

    /// Returns to the beginning, because curl sends again; false if the body can be sent only once.
    func rewindContent() -> Bool { content.source?.rewind() ?? true }

    func reportUpload() {
        if timing.sentAt == nil, isContentSent { timing.sentAt = multi.loop.now }
        guard upload?.isComplete == false, !observer.scope.isPaused,
            let event = upload?.advance(to: uploadedBytes, now: multi.loop.now)
        else { return }
        deliver(event)
    }

    /// Reports the end of the upload: before the head, and again at the end if the response came early.
    func deliverUploadEnd() {
        if let event = upload?.finish(at: uploadedBytes) { deliver(event) }
    }

    /// The number of body bytes that have been sent; a small body counts as a whole, because it is sent in
    /// one go. curl counts the bytes on the wire, which are more than the body if it is chunked.
    var uploadedBytes: Int64 {
        switch content {
        case .none: 0
        case .inline(let bytes): Int64(bytes.count)
        case .streamed(let source):
            source.length == nil ? source.takenBytes : Int64(handle?.sentBytes ?? sentAtEnd)
        }
    }

    /// Whether curl has passed all content to the network. Content that is sent together with the head counts
    /// as passed.
    var isContentSent: Bool {
        guard let source = content.source else { return true }
        return source.length.map { uploadedBytes >= $0 } ?? source.isExhausted
    }

    /// Whether the body is read in parts while it is sent.
    var isStreamed: Bool { content.source != nil }
}

/// A server may respond before it has all of the content, and need not take the rest.
extension Transfer {
    /// Whether the request asks first, and can be sent again without asking.
    var asksFirst: Bool { expectation.wait != nil && content.source?.canReopen ?? true }

    /// Starts over without the expectation, which the server does not support.
    func sendWithoutAsking(_ handle: EasyHandle) {
        expectation.isAllowed = false
        startOver(handle)
    }

    /// Handles an unsuccessful response that arrives before all content has been sent, once curl has
    /// returned: curl continues to send if the server closes after the response, and waits forever if there
    /// was no content at that moment.
    func handleEarlyResponse() {
        guard !state.isChallenged, content.source != nil, let status = response.head?.status,
            status.code >= 300, !isContentSent
        else { return }
        multi.perform(.finishEarly(self))
    }

    /// Stops the upload: ends the transfer if its response is complete, otherwise makes curl go on even if it waits for
    /// content. Does nothing once all content has been sent.
    func finishEarly() {
        guard !isOver, let handle, !isContentSent else { return }
        if isResponseComplete(handle), !handle.isReceivePaused {
            handle.mustDiscard = true
            complete(handle, CURLE_OK)
        } else {
            content.source?.stopWaiting()
            multi.feed(self)
        }
    }

    /// Whether the response is complete, as far as its head shows.
    func isResponseComplete(_ handle: EasyHandle) -> Bool {
        guard state.hasHead, let head = response.head else { return false }
        switch head.status.code {
        // As in ``watchEnd()`` and ``BodyFraming``.
        case 204, 304: return true
        default: return request.method == .head || response.length.value == handle.receivedBytes
        }
    }
}

/// Whether the request asks the server before it sends the content (`Expect: 100-continue`).
struct Expectation {
    /// Whether the request may ask.
    var isAllowed = true
    /// How long curl waits for `100 Continue` before it sends the content; `nil` if the request does not ask.
    var wait: Duration?
}

/// Decides which of curl's upload counts are reported: at most 20 per second, and always the last one.
struct UploadProgress {
    private let total: Int64?
    private var reported: Int64 = -1
    private var reportedAt: Duration?
    private static let interval = Duration.milliseconds(50)

    /// - Parameter total: the number of bytes to send, more than zero; `nil` if unknown.
    init(total: Int64?) { self.total = total }

    /// Whether all bytes have been reported as sent.
    var isComplete: Bool { reported == total }

    /// Returns the event for `sent` bytes, if it is time for one. A count that decreases, because curl sends
    /// again on a new connection, is not reported.
    mutating func advance(to sent: Int64, now: Duration) -> TransferEvent? {
        let sent = min(sent, total ?? .max)
        guard sent > max(reported, 0) else { return nil }
        if sent != total, let reportedAt, now - reportedAt < Self.interval { return nil }
        reportedAt = now
        return report(sent)
    }

    /// Returns the event that must precede the head, unless it has already been reported.
    mutating func finish(at sent: Int64) -> TransferEvent? {
        let sent = min(max(sent, reported), total ?? .max)
        return sent <= max(reported, 0) && sent != total ? nil : sent == reported ? nil : report(sent)
    }

    private mutating func report(_ sent: Int64) -> TransferEvent {
        reported = sent
        return .uploaded(bytes: sent, of: total)
    }
}
