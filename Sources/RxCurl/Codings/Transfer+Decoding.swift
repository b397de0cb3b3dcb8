internal import HTTPTypes
internal import RxHTTP
internal import RxLite

/// A body is decoded between curl and the subscriber, since curl does not say that a coded body breaks off.
extension Transfer {
    /// Prepares for the body of a head with `Content-Encoding`; false if it is refused.
    ///
    /// The bytes of a 206 are a part of the coded content (RFC 9110 §14.2) and stay as they came.
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

    /// Takes bytes as they came and delivers pieces until none is left or the subscriber pauses; false if they are
    /// refused.
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

    /// Delivers the next piece, if there is one; false if there cannot be one.
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

    /// Ends with the refusal of bytes that curl has handed over before.
    func endRefused() {
        guard let refusal = state.refusal else { return }
        let error = error(refusal.kind, refusal.message)
        // After the end of the loop nothing of curl's is left.
        if handle == nil { end(error) } else { multi.perform(.breakOff(self, error)) }
    }
}
