import CLibcurl
import RxHTTP

/// A server may refuse a stream, or say in GOAWAY that it processes no stream from some number on. It has certainly not
/// processed these requests, so they are sent again whatever their method (RFC 9113 §8.7).
///
/// A new HTTP/2 connection is used for up to 100 streams until the server has announced its limit. Streams
/// beyond the limit are refused and sent on the next new connection, where the same may happen.
///
/// libcurl sends refused requests again by itself, and in the same way those whose reused connection broke
/// without a byte of a response, which the server may have processed (`Curl_retry_request`). Only its log tells
/// the two apart, from 8.4 on (``LibcurlFault/hidesRefusals``). On a connection that was made for the request,
/// there is only the first.
extension Transfer {
    /// Records that curl is about to send the request; false if it may not.
    func beginSending() -> Bool {
        let isAgain = state.isSent && !state.isChallenged
        guard state.willSend(isRefused: isAgain && isLatestRefused) else { return false }
        // If no content was written to the network, not every libcurl returns to its beginning.
        if isAgain, !rewindContent() {
            state.refuse(.contentGone)
            return false
        }
        stopEndWatch()
        let connectionCount = handle?.connectionCount ?? 0
        let isOnNewConnection = connectionCount > attempts.sending.connectionCount
        attempts.sending = SendingAttempt(
            connectionCount: connectionCount, isOnNewConnection: isOnNewConnection,
            awaitsCertificateVerdict: isOnNewConnection && !target.isPlain
                && handle?.awaitsCertificateVerdict == true)
        handle?.listen(hearsStreams)
        return true
    }

    /// Whether the server has certainly not processed what was sent last, given that curl sends it again. A server
    /// that asks for HTTP/1.1 does not say so.
    private var isLatestRefused: Bool {
        attempts.sending.isRefused
            || attempts.sending.isOnNewConnection && !attempts.sending.isDowngraded
    }

    /// Whether libcurl's log may matter before the response begins.
    private var hearsStreams: Bool {
        guard !request.asksForUpgrade, !speaksHTTP1 else { return false }
        return !state.isRepeatable || multi.features.has(.endsHTTP2BodiesEarly) || multi.endWatches > 0
    }

    /// Whether libcurl's log may matter once the response has begun.
    var hearsFrames: Bool { multi.features.has(.endsHTTP2BodiesEarly) || multi.endWatches > 0 }

    /// Whether the server has refused the request and curl does not send it again: before 8.0 after GOAWAY, on newer
    /// ones after a GOAWAY with an error, and on all after six connections in a row
    /// (``LibcurlFault/givesUpRefusedStreams``).
    func isRefused(_ handle: EasyHandle, _ result: CURLcode) -> Bool {
        guard result != CURLE_OK, !isOver, state.refusal == nil, state.awaitsStatusLine, state.headBytes == 0,
            attempts.refusals < Self.mostRefusals, content.source?.canReopen ?? true
        else { return false }
        if attempts.sending.isRefused { return true }
        // libcurl ends with the same message if a connection broke that had been used before, on which the server may
        // have processed the request: then only what may be repeated is sent again.
        guard result == CURLE_RECV_ERROR || result == CURLE_SEND_ERROR,
            state.isRepeatable || attempts.sending.isOnNewConnection,
            multi.features.has(.givesUpRefusedStreams)
        else { return false }
        // The words of libcurl (`Curl_retry_request`).
        return handle.error(result).message.hasPrefix("Connection died, tried")
    }

    /// Whether the request is about to be sent on an idle connection that the server has closed, or on which bytes have
    /// arrived that no request asked for (``LibcurlFault/trustsIdleConnections``). From 8.22 on, libcurl tells the
    /// socket at this point.
    var isOnUncleanConnection: Bool {
        guard !state.isSent, multi.features.has(.trustsIdleConnections), let socket = handle?.socket else {
            return false
        }
        return multi.sockets.isUnclean(socket)
    }

    /// How often the transport sends a request again; libcurl tries six connections each time.
    private static var mostRefusals: Int { 16 }

    func sendAfterRefusals(_ handle: EasyHandle) {
        attempts.refusals += 1
        startOver(handle)
    }

    /// Sends the request again from the beginning, as if it had not been sent. ``willSend(to:)`` resets the response.
    func startOver(_ handle: EasyHandle) {
        state = TransferState(of: request, on: multi)
        handle.mustDiscard = true
        // Before the release, which closes the source.
        content.source?.keep()
        release(handle)
        attempts.sending = SendingAttempt()
        attempts.wasPassedToCurl = false
        (attempts.shortage, attempts.forbidden) = (nil, nil)
        content.source?.reopen()
        multi.perform(.add(self))
    }

    // MARK: - Notices

    /// Takes a notice from libcurl's log. It may concern other transfers: curl reads the frames of a whole
    /// connection for any of them.
    func receive(_ notice: HTTP2Notice) {
        switch notice {
        case .stream(let stream):
            let last = multi.unownedNotice.take()
            guard attempts.sending.stream == nil else { return }
            attempts.sending.stream = stream
            if let last, last.localPort == metrics.localPort { receive(last.notice) }
        case .refused: attempts.sending.isRefused = true
        case .downgrades: attempts.sending.isDowngraded = true
        case .closes: attempts.sending.isClosing = true
        case .goneAway(let last):
            for transfer in multi.running.transfers where transfer.sharesConnection(with: self) {
                transfer.attempts.sending.goAway(last: last)
            }
        case .ended(let stream):
            if let owner = owner(of: stream, in: notice) { owner.attempts.sending.hasEnded = true }
        case .resetWithoutError(let stream):
            if let owner = owner(of: stream, in: notice) { owner.attempts.sending.isResetWithoutError = true }
        }
    }

    /// The transfer that has the stream. If it has not heard its number yet, it does so with the next notice.
    private func owner(of stream: UInt32, in notice: HTTP2Notice) -> Transfer? {
        if attempts.sending.stream == stream { return self }
        let owner = multi.running.transfers.first {
            $0.attempts.sending.stream == stream && $0.sharesConnection(with: self)
        }
        multi.unownedNotice = owner == nil ? (notice, metrics.localPort) : nil
        return owner
    }

    /// Whether both have the same connection. Those of a Unix socket cannot be distinguished.
    func sharesConnection(with other: Transfer) -> Bool {
        if self === other { return true }
        return metrics.localPort == other.metrics.localPort && metrics.localPort != 0
            && metrics.remotePort == other.metrics.remotePort
            && metrics.remoteAddress == other.metrics.remoteAddress
    }
}

/// An event of an HTTP/2 stream, read from a line of libcurl's log (`CURLOPT_DEBUGFUNCTION`), the only place where
/// libcurl reports it. Unknown lines are ignored.
enum HTTP2Notice: Equatable {
    /// The request has this stream.
    case stream(UInt32)
    /// The stream was refused: the server has not processed the request (RFC 9113 §8.7).
    case refused
    /// The server processes no stream above this one (GOAWAY).
    case goneAway(last: UInt32)
    /// A frame on the connection ended the server's side of the stream (END_STREAM).
    case ended(UInt32)
    /// A frame on the connection reset the stream without an error (`NO_ERROR`).
    case resetWithoutError(UInt32)
    /// curl sends again over HTTP/1.1 because the server requires it.
    case downgrades
    /// curl closes a connection at the end of the transfer.
    case closes

    init?(_ text: UnsafeRawBufferPointer) {
        var rest = unsafe LogText(text)
        // "Using Stream ID: 1 (easy handle 0x55d9ca4c6190)", before 8.3.
        if rest.take("Using Stream ID: ") {
            guard let stream = rest.takeNumber() else { return nil }
            self = .stream(stream)
            return
        }
        if rest.take("Downgrades to HTTP/1.1") {
            self = .downgrades
            return
        }
        // "Closing connection 0", before 8.7.
        if rest.take("Closing connection ") {
            self = .closes
            return
        }
        // "received GOAWAY, error=0, last_stream=1"; 7.88 has a misprint.
        if rest.take("received GOAWAY, error=") || rest.take("recveived GOAWAY, error=") {
            guard rest.takeNumber() != nil, rest.take(", last_stream="), let last = rest.takeNumber()
            else { return nil }
            self = .goneAway(last: last)
            return
        }
        // "[HTTP/2] [1] …", from 8.3 on, because ``Multi/open()`` has turned this trace on.
        guard rest.take("[HTTP/2] ["), let stream = rest.takeNumber(), rest.take("] ") else { return nil }
        if rest.take("OPENED stream for ") || rest.take("DATA, window=") || rest.take("CLOSED") {
            self = .stream(stream)
        } else if rest.take("RESET: REFUSED_STREAM ") {
            self = .refused
        } else if rest.take("<- FRAME[RST_STREAM, len=4, flags=") {
            guard rest.takeNumber() != nil, rest.take(", error=0]") else { return nil }
            self = .resetWithoutError(stream)
        } else if rest.take("<- FRAME[DATA, len=") {
            guard rest.takeNumber() != nil, rest.take(", eos=1") else { return nil }
            self = .ended(stream)
        } else if rest.take("<- FRAME[HEADERS, len=") {
            guard rest.takeNumber() != nil, rest.take(", hend="), rest.takeNumber() != nil,
                rest.take(", eos=1")
            else { return nil }
            self = .ended(stream)
        } else {
            return nil
        }
    }
}

/// Reads a text from its beginning.
@safe
private struct LogText {
    // Safe: used only while the text lives, within its bounds.
    private var rest: UnsafeRawBufferPointer.SubSequence

    init(_ text: UnsafeRawBufferPointer) { unsafe rest = unsafe text[...] }

    /// Skips these words if they come next.
    mutating func take(_ words: StaticString) -> Bool {
        let count = words.utf8CodeUnitCount
        guard unsafe rest.count >= count else { return false }
        let words = unsafe UnsafeBufferPointer(start: words.utf8Start, count: count)
        guard unsafe rest.prefix(count).elementsEqual(words) else { return false }
        unsafe rest = unsafe rest.dropFirst(count)
        return true
    }

    /// Skips a number, and returns it.
    mutating func takeNumber() -> UInt32? {
        var number: UInt32?
        while let byte = unsafe rest.first, (0x30...0x39).contains(byte) {
            let (shifted, isTooLarge) = (number ?? 0).multipliedReportingOverflow(by: 10)
            let (sum, overflows) = shifted.addingReportingOverflow(UInt32(byte - 0x30))
            guard !isTooLarge, !overflows else { return nil }
            number = sum
            unsafe rest = unsafe rest.dropFirst()
        }
        return number
    }
}
