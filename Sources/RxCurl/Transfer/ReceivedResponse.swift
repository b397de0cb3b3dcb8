internal import HTTPTypes
internal import RxHTTP

/// The parts of the response that a transfer has received, and those that wait for the consumer.
struct ReceivedResponse {
    /// The status in the latest status line.
    var status: HTTPResponse.Status?
    var httpVersion: HTTPVersion?
    /// The lines of the head that is being received, or of the trailers.
    var fieldLines: [UInt8] = []
    var length = AnnouncedLength()
    /// Whether the head has a `Content-Encoding` that has not been processed.
    var hasCoding = false
    /// Informational heads that have not been delivered.
    var interim: [ResponseHead] = []
    /// The final head, once it is complete.
    var head: ResponseHead?
    /// Set if the body is decoded.
    var decoding: ContentDecoding?
    /// Chunks that have arrived while the consumer was paused.
    var backlog = Backlog()

    /// Resets the response, because the request is about to be sent.
    mutating func forget() {
        head = nil
        decoding = nil
        if !fieldLines.isEmpty { fieldLines.removeAll(keepingCapacity: true) }
        if !interim.isEmpty { interim = [] }
    }

    /// Notes that a head begins.
    mutating func beginHead() {
        if !fieldLines.isEmpty { fieldLines.removeAll(keepingCapacity: true) }
        length = AnnouncedLength()
        hasCoding = false
    }

    mutating func append(_ line: UnsafeRawBufferPointer) {
        if fieldLines.isEmpty { fieldLines.reserveCapacity(512) }
        guard unsafe Self.isContinuation(line) else { return unsafe fieldLines.append(contentsOf: line) }
        unfold()
        unsafe fieldLines.append(contentsOf: line.drop { Self.isBlank($0) })
    }

    /// Joins the next line to the previous one: a line that begins with a blank continues it (RFC 9112 §5.2). One space
    /// takes the place of the line break and the blanks around it, as in libcurl 8.18 and newer.
    private mutating func unfold() {
        while let last = fieldLines.last, last == 0x0D || last == 0x0A || Self.isBlank(last) {
            fieldLines.removeLast()
        }
        fieldLines.append(0x20)
    }

    private static func isContinuation(_ line: UnsafeRawBufferPointer) -> Bool {
        guard let first = unsafe line.first else { return false }
        return isBlank(first)
    }

    private static func isBlank(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 0x09 }

    /// Makes the final head from the lines.
    mutating func makeHead() {
        guard let status else { return }
        var lines: [UInt8] = []
        swap(&lines, &fieldLines)
        // The connection of another protocol may stay open for long: no more than the lines need.
        if status.code == 101 { lines = unsafe lines.withUnsafeBytes { unsafe Array($0) } }
        head = ResponseHead(status: status, fieldLines: lines, httpVersion: httpVersion)
    }

    /// Makes an informational head from the lines and keeps it.
    mutating func keepInterim() {
        guard let status else { return }
        interim.append(ResponseHead(status: status, fieldLines: fieldLines, httpVersion: httpVersion))
    }
}
