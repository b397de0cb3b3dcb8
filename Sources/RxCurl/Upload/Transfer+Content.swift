internal import RxHTTP
internal import RxLite
internal import RxLoop

extension Transfer {
    /// Copies the next bytes of a streamed body to curl.
    func readContent(into buffer: UnsafeMutableRawBufferPointer) -> ContentSource.Supply {
        guard let source = content.source else { return .end }
        multi.sockets.noteContentRead()
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
