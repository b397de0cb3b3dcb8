internal import HTTPTypes
internal import RxHTTP
internal import RxLite

/// The body is decoded between curl and the subscriber, because curl does not report a coded body that is cut
/// off.
extension Transfer {
    /// Prepares the decoding of a body with `Content-Encoding`; false if it is refused.
    ///
    /// The bytes of a 206 are a part of the coded content (RFC 9110 §14.2) and are delivered undecoded.
    func openDecoding() -> Bool {
        response.hasCoding = false
        guard request.decodesContent, let head = response.head, head.status != .partialContent,
            let value = head[.contentEncoding]
        else { return true }
        let codings = ContentCoding.list(in: value)
        guard !codings.isEmpty else { return true }
        guard codings.count <= ContentCoding.limit else {
            state.refuse(.tooManyCodings)
            return false
        }
        response.decoding = ContentDecoding(
            codings, limits: .init(expansion: max(1, multi.configuration.expansionLimit)))
        state.beginDecoding()
        return true
    }

    /// Takes received bytes and delivers pieces until none is left or the subscriber pauses; false if the
    /// bytes are refused.
    func decode(_ bytes: UnsafeRawBufferPointer, by decoding: ContentDecoding) -> Bool {
        unsafe feed(bytes, to: decoding)
        while decoding.isPending, observer.scope.isOpen {
            guard deliverDecoded() else { return false }
            if observer.scope.isPaused {
                watchResume()
                break
            }
        }
        return true
    }

    func feed(_ bytes: UnsafeRawBufferPointer, to decoding: ContentDecoding) {
        unsafe decoding.feed(bytes)
        state.receiveCoded()
    }

    /// Delivers the next piece, if there is one; false if the bytes are refused.
    func deliverDecoded() -> Bool {
        guard let decoding = response.decoding else { return true }
        do throws(ContentDecoding.Failure) {
            let piece = try decoding.next()
            state.receiveDecoded(
                count: piece?.count ?? 0, isPending: decoding.isPending,
                brokenOff: decoding.isPending ? nil : decoding.brokenOff)
            if let piece { deliver(.chunk(piece)) }
            return true
        } catch {
            switch error {
            case .malformed(let coding): state.refuse(.malformedContent(coding))
            case .expanded: state.refuse(.expanded)
            }
            return false
        }
    }

    /// Ends the transfer because of refused bytes that curl has already handed over.
    func endRefused() {
        guard let refusal = state.refusal else { return }
        let error = error(refusal.kind, refusal.message)
        // After the end of the loop, nothing of curl is left.
        if handle == nil { end(error) } else { multi.perform(.breakOff(self, error)) }
    }
}
