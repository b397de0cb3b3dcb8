internal import RxHTTP
internal import RxLite
internal import RxLoop

extension Transfer {
    /// Hands over the next bytes of a body that is not small.
    func readContent(into buffer: UnsafeMutableRawBufferPointer) -> ContentSource.Supply {
        guard let source = content.source else { return .end }
        multi.sockets.noteContentRead()
        return unsafe source.read(into: buffer, for: self)
    }

    /// Decides whether the server is asked before the content is sent. With HTTP/2 it refuses by closing the stream, and
    /// curl would wait for nothing.
    func decideToAsk() {
        let policy = request.continuePolicy
        let isAsked = expectation.isAllowed && policy.asks(before: content.length) && speaksHTTP1
        expectation.wait = isAsked ? policy.wait : nil
    }

    /// Whether it asks before content of which it is not known whether there is any.
    var awaitsContent: Bool { expectation.wait != nil && content.source.map { $0.length == nil } ?? false }

    /// Goes back to the beginning, since curl sends again; false if the body can be sent only once.
    func rewindContent() -> Bool { content.source?.rewind() ?? true }

    func reportUpload() {
        if timing.sentAt == nil, isContentSent { timing.sentAt = multi.loop.now }
        guard upload?.isComplete == false, !observer.scope.isPaused,
            let event = upload?.advance(to: uploadedBytes, now: multi.loop.now)
        else { return }
        deliver(event)
    }

    /// The last word on the upload: before the head, and again at the end if the response came early.
    func deliverUploadEnd() {
        if let event = upload?.finish(at: uploadedBytes) { deliver(event) }
    }

    /// What has gone out: a small body as a whole, since that is sent in one go. curl counts the bytes on the wire,
    /// which are more than those of the body if that is chunked.
    var uploadedBytes: Int64 {
        switch content {
        case .none: 0
        case .inline(let bytes): Int64(bytes.count)
        case .streamed(let source):
            source.length == nil ? source.takenBytes : Int64(handle?.sentBytes ?? sentAtEnd)
        }
    }

    /// Whether curl has handed all of the content to the network. What is in one go with the head counts as such.
    var isContentSent: Bool {
        guard let source = content.source else { return true }
        return source.length.map { uploadedBytes >= $0 } ?? source.isExhausted
    }

    /// Whether the body is read bit by bit while it is sent.
    var isStreamed: Bool { content.source != nil }
}
