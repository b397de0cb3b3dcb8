internal import CLibcurl
internal import HTTPTypes
internal import RxHTTP

/// The end of a body without a length is what the server says it is. libcurl reports some bodies as complete though the
/// server did not say so.
extension Transfer {
    /// Begins to watch how the body ends, if that matters, once the head is complete.
    func watchEnd() {
        guard response.length.value == nil, request.upgrade == nil, request.method != .head,
            let handle, let head = response.head, head.status != .noContent, head.status != .notModified
        else { return }
        if response.httpVersion == .http2 {
            if multi.features.has(.endsHTTP2BodiesEarly) {
                attempts.sending.endWatch = .connection
                if handle.isOneUse { handle.permitReuse() }
            } else if multi.features.has(.trustsResetHTTP2Bodies) {
                attempts.sending.endWatch = .stream
                multi.beginEndWatch()
            }
        } else if !isMultiplexed, !target.isPlain, multi.features.has(.trustsCutTLSBodies),
            head.headerFields[.transferEncoding] == nil
        {
            attempts.sending.endWatch = .closeNotify
            handle.watchProgress()
        }
    }

    /// Ends the watch, if there is one.
    func stopEndWatch() {
        if case .stream = attempts.sending.endWatch { multi.endEndWatch() }
        attempts.sending.endWatch = .none
    }

    /// Notes whether the server has ended TLS. curl reports progress for the last time while the connection is open.
    func noteCloseNotify() {
        guard case .closeNotify = attempts.sending.endWatch, let handle else { return }
        attempts.sending.hasCloseNotify = handle.hasCloseNotify
    }

    /// Whether the server broke off a body that libcurl reports as complete.
    func isCutOff(_ handle: EasyHandle) -> Bool {
        let sending = attempts.sending
        switch sending.endWatch {
        case .none: return false
        case .closeNotify: return !sending.hasCloseNotify
        case .stream: return sending.isResetWithoutError && !sending.hasEnded
        case .connection:
            let socket = handle.socket
            if handle.isOneUse, let socket { ConnectedSocket(descriptor: socket).retire() }
            // A connection that other transfers use stays open, and after GOAWAY it is closed in any case.
            return socket == nil && sending.isClosing && !sending.hasGoneAway
        }
    }
}

extension Multi {
    /// Notes that a transfer watches the end of its stream: from now on libcurl's log of all HTTP/2 transfers is read,
    /// because curl reads the frames of a connection for any of them.
    func beginEndWatch() {
        endWatches += 1
        for transfer in running.transfers where transfer.isMultiplexed || !transfer.speaksHTTP1 {
            transfer.handle?.listen(true)
        }
    }

    func endEndWatch() { endWatches -= 1 }
}
