import CLibcurl
import FoundationEssentials
import HTTPTypes
import RxHTTP
import RxLite
import RxLoop

extension Transfer {
    static func isEmptyLine(_ line: UnsafeRawBufferPointer) -> Bool {
        guard let first = unsafe line.first else { return true }
        return line.count <= 2 && (first == 0x0D || first == 0x0A)
    }

    func deliverInterim() {
        guard !response.interim.isEmpty else { return }
        deliver(.interim(response.interim.removeFirst()))
    }

    func deliverHead() {
        while !response.interim.isEmpty { deliverInterim() }
        deliverUploadEnd()
        guard let head = response.head else { return }
        // Before the consumer may send the next request.
        learnHSTS(from: head)
        deliver(.head(head))
    }

    /// Passes the head to the HSTS store. A host may require TLS only in a response over TLS, and only if its
    /// certificate has been verified (RFC 6797 §8.1).
    private func learnHSTS(from head: ResponseHead) {
        let configuration = multi.configuration
        guard let hsts = configuration.hsts, !target.isPlain, configuration.tls.verifiesServer else { return }
        hsts.learn(from: head, of: request.url, at: multi.loop.currentDate)
    }

    /// Whether curl can be told to pause.
    var canWait: Bool { !isMultiplexed || multi.settings.pausesHTTP2 }

    func deliverBacklog() {
        guard let chunk = response.backlog.next() else { return }
        state.removeFromBacklog(chunk.count)
        guard let decoding = response.decoding else { return deliver(.chunk(chunk)) }
        unsafe chunk.withUnsafeBytes { unsafe feed($0, to: decoding) }
    }

    func deliverTrailers() {
        guard let status = response.status else { return }
        deliver(.trailers(ResponseHead(status: status, fieldLines: response.fieldLines).headerFields))
    }

    /// Delivers an event. On the loop the lane is nearly always free, and then nothing is allocated.
    func deliver(_ event: TransferEvent) {
        multi.loop.assertCurrent()
        let scope = observer.scope
        if scope.lane.tryEnter() {
            if scope.isOpen { observer.next(event) }
            scope.lane.leave()
        } else {
            scope.lane.enqueue { [observer] in
                if observer.scope.isOpen { observer.next(event) }
            }
        }
    }

    func finish() {
        metrics.bodyBytesDecoded = state.decodedBytes
        let lane = observer.scope.lane
        if lane.tryEnter() {
            Self.finish(observer, metrics)
            lane.leave()
        } else {
            lane.enqueue { [observer, metrics] in Self.finish(observer, metrics) }
        }
    }

    private static func finish(
        _ observer: Observer<TransferEvent, NetworkError>, _ metrics: TransferMetrics
    ) {
        if observer.scope.isOpen { observer.next(.finished(metrics)) }
        if observer.scope.isOpen { observer.finish() }
    }

    func fail(_ error: NetworkError) {
        observer.scope.enter { [observer] in observer.fail(error) }
    }

    func failure(_ error: CurlError) -> NetworkError {
        var error = error
        error.isAfterCertificateRequest = isAfterCertificateRequest(error)
        if let refusal = state.refusal { return self.error(refusal.kind, refusal.message, error) }
        if let forbidden = forbiddenAddress(error) { return forbidden }
        if let shortage = shortage(behind: error) { return shortage }
        let isLookedUp = multi.configuration.dnsOverHTTPS != nil && handle?.hasNoAddress == true
        var kind = error.kind(isSent: state.isSent, isLookedUp: isLookedUp)
        // curl reports an HTTP/2 stream that was closed before the head like one that was closed in the body.
        if kind == .partialBody, response.head == nil { kind = .connectionLost }
        let sentence = error.sentence(for: kind, host: host, isSent: state.isSent)
        var failure = self.error(kind, sentence ?? text(of: kind), error)
        failure.details = error.message
        return failure
    }

    /// The failure of a connection that another protocol uses, or of all connections.
    func lostConnection(_ details: String) -> NetworkError {
        var error = NetworkError(.connectionLost, CurlError.lostConnection(to: host))
        error.details = details
        return error
    }

    private var host: String { request.url.host() ?? "the server" }

    /// Whether the server broke the connection because of the client's certificate, or its absence. With TLS 1.3 the
    /// client is connected before the server has decided, and its request often meets a closed connection before the
    /// alert is read.
    private func isAfterCertificateRequest(_ error: CurlError) -> Bool {
        attempts.sending.awaitsCertificateVerdict && state.headBytes == 0
            && [CURLE_SEND_ERROR, CURLE_RECV_ERROR].contains(error.code)
            // The server would have sent an alert.
            && !error.message.contains("unexpected eof")
    }

    /// The message for a limit that has passed. A new limit needs a case: the default speaks of the attempt.
    /// `ExchangeLimits` of RxTesting has the same texts; change both.
    func text(of code: NetworkError.Code) -> String {
        func after(_ limit: Duration?) -> String { limit.map { "\($0)" } ?? "the system's limit" }
        let limits = request.timeouts
        return switch code {
        case .queueTimeout: "queue timeout: no connection was free within \(after(limits.queue))"
        case .connectTimeout: "connect timeout: no connection was made within \(after(limits.connect))"
        case .firstByteTimeout:
            "first byte timeout: the request was sent, and no response began within \(after(limits.firstByte))"
        case .idleTimeout: "idle timeout: nothing was sent or received for \(after(limits.idle))"
        default: "attempt timeout: the response was not complete within \(after(limits.attempt))"
        }
    }

    func error(
        _ code: NetworkError.Code, _ message: String, _ cause: CurlError? = nil
    ) -> NetworkError {
        var error = NetworkError(code, message, request: request)
        error.curlCode = cause.map { Int($0.code.rawValue) }
        error.tlsFailure = code == .tls ? cause?.tlsFailure : nil
        error.isUnsent = !state.isSent
        error.head = response.head
        return error
    }
}

/// The parts of the response that a transfer has received, and those that wait for the consumer.
struct ReceivedResponse {
    /// The status in the latest status line.
    var status: HTTPResponse.Status?
    var httpVersion: HTTPVersion?
    /// The lines of the head that is being received, or of the trailers.
    var fieldLines: [UInt8] = []
    var length = ContentLength()
    /// Whether the head has a `Content-Encoding` that has not been processed.
    var hasCoding = false
    /// Informational heads that have not been delivered. ``TransferState/Phase`` counts them.
    var interim: [ResponseHead] = []
    /// The final head, once it is complete.
    var head: ResponseHead?
    /// Set if the body is decoded.
    var decoding: ContentDecoding?
    /// Chunks that have arrived while the consumer was paused.
    var backlog = Backlog()

    /// Resets the response, because the request is about to be sent. ``beginHead()`` resets what belongs to a
    /// single head.
    mutating func forget() {
        head = nil
        decoding = nil
        if !fieldLines.isEmpty { fieldLines.removeAll(keepingCapacity: true) }
        if !interim.isEmpty { interim = [] }
    }

    /// Records that a head begins.
    mutating func beginHead() {
        if !fieldLines.isEmpty { fieldLines.removeAll(keepingCapacity: true) }
        length = ContentLength()
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

/// Chunks that arrived while the consumer was paused and that curl cannot keep, first in, first out.
struct Backlog {
    private var chunks: [[UInt8]] = []
    private var first = 0

    mutating func append(_ chunk: [UInt8]) { chunks.append(chunk) }

    mutating func next() -> [UInt8]? {
        guard first < chunks.count else { return nil }
        defer {
            chunks[first] = []
            first += 1
            if first == chunks.count { (chunks, first) = ([], 0) }
        }
        return chunks[first]
    }
}
