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
        // "[HTTP/2] [1] …", from 8.3 on and if it is traced.
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
