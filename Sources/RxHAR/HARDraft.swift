package import FoundationEssentials
import HTTPTypes
package import RxHTTP
package import RxWebSocket

/// An exchange that is being recorded, without the secrets of the request.
package struct HARDraft {
    /// The number of the exchange, in the order in which exchanges began.
    package let number: Int
    private var request: Request
    /// The number of bytes of the request's body; `request` holds at most the limit. `nil` if it is unknown.
    private let requestSize: Int64?
    private let date: Date
    private let start: Duration
    private var head: ResponseHead?
    private var respondedAt: Duration?
    private var body: [UInt8] = []
    private var bodyCount = 0
    private var messages: [Message] = []
    private var messageByteCount = 0
    private var bodyLimit: Int
    private let messageByteLimit: Int
    /// The bytes that the draft takes, approximately.
    package private(set) var byteCount: Int

    /// A message of a WebSocket, which becomes text in the entry.
    private struct Message {
        let isSent: Bool
        let date: Date
        let opcode: Int
        /// `nil` if the limit was reached before.
        let content: WebSocketMessage?
    }

    /// - Parameters:
    ///   - request: the request as sent.
    ///   - date: the time when it is sent.
    ///   - start: the same time on the clock that measures the exchange.
    ///   - bodyLimit: the maximum number of bytes that are recorded of each body.
    ///   - messageByteLimit: the maximum number of bytes of a WebSocket's messages; by default that of a body.
    package init(
        _ request: Request, number: Int, date: Date, start: Duration, bodyLimit: Int,
        messageByteLimit: Int? = nil
    ) {
        self.request = request.keepingBody(upTo: bodyLimit)
        requestSize = request.body.count
        self.number = number
        self.date = date
        self.start = start
        self.bodyLimit = bodyLimit
        self.messageByteLimit = messageByteLimit ?? bodyLimit
        byteCount = 512 + self.request.byteCount
    }

    /// Adds bodies that were kept elsewhere.
    ///
    /// - Parameters:
    ///   - request: the request with the kept part of its body.
    ///   - body: the kept part of the response's body.
    ///   - count: the number of bytes of the response's body.
    ///   - limit: the maximum number of bytes that were kept of each body.
    package mutating func fill(_ request: Request, _ body: [UInt8], count: Int, limit: Int) {
        (self.request, self.body, bodyCount, bodyLimit) = (request, body, count, limit)
    }

    package mutating func take(_ transfer: TransferEvent, at time: Duration) {
        switch transfer {
        case .head(let head):
            byteCount += head.fieldLines.count
            self.head = head
            respondedAt = time
        // The frames of a WebSocket; its messages are recorded instead.
        case .chunk where head?.status == .switchingProtocols: break
        case .chunk(let bytes):
            bodyCount += bytes.count
            let part = bytes.prefix(max(0, bodyLimit - body.count))
            body += part
            byteCount += part.count
        default: break
        }
    }

    /// Takes a message of a WebSocket. Messages together hold at most as many bytes as the limit, and the oldest are
    /// kept; later ones are recorded without their data.
    package mutating func take(_ message: WebSocketMessage, isSent: Bool, date: Date) {
        guard messages.count < Self.messageLimit else { return }
        messageByteCount += message.count
        let isRecorded = messageByteCount <= messageByteLimit
        let opcode = if case .text = message { 1 } else { 2 }
        messages.append(
            Message(isSent: isSent, date: date, opcode: opcode, content: isRecorded ? message : nil))
        byteCount += 64 + (isRecorded ? message.count : 0)
    }

    private func shown(_ message: Message) -> HAR.WebSocketMessage {
        let data =
            switch message.content {
            case .text(let text):
                String(decoding: request.redaction.shown(Array(text.utf8), type: nil), as: UTF8.self)
            case .binary(let bytes):
                Data(request.redaction.shown(bytes, type: "application/octet-stream")).base64EncodedString()
            case nil: ""
            }
        return HAR.WebSocketMessage(
            type: message.isSent ? .send : .receive, time: message.date.timeIntervalSince1970,
            opcode: message.opcode, data: data)
    }

    /// The maximum number of messages of one WebSocket.
    private static let messageLimit = 10_000

    /// Creates the entry.
    ///
    /// - Parameters:
    ///   - metrics: the metrics; `nil` if there is no complete response.
    ///   - error: the reason why there is no complete response.
    ///   - end: the time of the end.
    package func entry(metrics: TransferMetrics?, error: String?, end: Duration) -> HAR.Entry {
        let timings = metrics.map { HAR.Timings($0) } ?? HAR.Timings(from: start, respondedAt, to: end)
        let version = (metrics?.httpVersion ?? head?.httpVersion)?.description ?? "unknown"
        return HAR.Entry(
            startedDateTime: date.iso8601, time: timings.total, request: request(version),
            response: response(version, metrics), timings: timings,
            serverIPAddress: metrics?.remoteAddress,
            connection: metrics.flatMap { $0.localPort > 0 ? String($0.localPort) : nil },
            requestID: "\(request.id)", attempt: request.attempt, error: error,
            resourceType: request.upgrade == nil ? nil : "websocket",
            webSocketMessages: messages.isEmpty ? nil : messages.map(shown))
    }

    private func request(_ version: String) -> HAR.Request {
        let (redaction, fields) = (request.redaction, request.headerFields)
        let url = request.shownURL
        let query = url.cut(at: "#").before.cut(at: "?").after
        return HAR.Request(
            method: request.method.rawValue, url: url, httpVersion: version,
            cookies: fields[values: .cookie].flatMap { HAR.Cookie.sent(in: $0) },
            headers: redaction.shown(fields).map { HAR.Pair(name: $0.name, value: $0.value) },
            queryString: query.map { HAR.Pair.pairs(inForm: $0) } ?? [], postData: postData(redaction),
            bodySize: requestSize.map { Int(clamping: $0) } ?? -1)
    }

    private func postData(_ redaction: Redaction) -> HAR.PostData? {
        let count = requestSize ?? .max
        guard count > 0 else { return nil }
        let type = request.headerFields[.contentType]
        var data = HAR.PostData(mimeType: type ?? "")
        guard bodyLimit > 0, case .bytes(let bytes) = request.body else {
            data.comment = "not recorded"
            return data
        }
        let shown = request.shown(bytes)
        if count > bodyLimit { data.comment = "the first \(bodyLimit) bytes" }
        if MediaType(type).isForm, count <= bodyLimit {
            data.params = HAR.Pair.pairs(inForm: String(decoding: shown, as: UTF8.self)[...])
        } else if let text = text(shown, isCut: count > bodyLimit) {
            data.text = text
        } else {
            data.comment = "not text, and so not recorded"
        }
        return data
    }

    /// The body as text, without the beginning of a character that the limit has cut; `nil` if it is not text.
    private func text(_ body: [UInt8], isCut: Bool) -> String? {
        if let text = String(validating: body, as: UTF8.self) { return text }
        // The first bytes of characters in UTF-8 of more than one byte.
        guard isCut, let start = body.suffix(3).lastIndex(where: { 0xC2...0xF4 ~= $0 }),
            body[(start + 1)...].allSatisfy({ 0x80...0xBF ~= $0 })
        else { return nil }
        return String(validating: body[..<start], as: UTF8.self)
    }

    private func response(_ version: String, _ metrics: TransferMetrics?) -> HAR.Response {
        guard let head else {
            return HAR.Response(content: HAR.Content(size: 0, mimeType: "x-unknown"))
        }
        let fields = head.headerFields
        var response = HAR.Response(
            status: head.status.code, statusText: head.status.reasonPhrase, httpVersion: version,
            cookies: fields[values: .setCookie].compactMap { HAR.Cookie(set: $0) },
            headers: request.redaction.shown(fields).map { HAR.Pair(name: $0.name, value: $0.value) },
            content: content(type: fields[.contentType]),
            redirectURL: fields[.location].map { request.redaction.shown(url: $0) } ?? "")
        guard let metrics else { return response }
        if metrics.headBytesReceived > 0 { response.headersSize = metrics.headBytesReceived }
        response.bodySize = metrics.bodyBytesReceived
        if fields[.contentEncoding] != nil { response.content.compression = bodyCount - response.bodySize }
        return response
    }

    private func content(type: String?) -> HAR.Content {
        var content = HAR.Content(size: bodyCount, mimeType: type ?? "x-unknown")
        guard bodyCount > 0 else { return content }
        guard bodyLimit > 0 else {
            content.comment = "not recorded"
            return content
        }
        if bodyCount > body.count { content.comment = "the first \(body.count) bytes" }
        let shown = request.redaction.shown(body, type: type)
        // A text that is truncated within a character is still text.
        if MediaType(type).isText {
            content.text = String(decoding: shown, as: UTF8.self)
        } else {
            content.text = Data(shown).base64EncodedString()
            content.encoding = "base64"
        }
        return content
    }
}

extension Date {
    /// The date with milliseconds, in UTC.
    var iso8601: String { ISO8601Format(.init(includingFractionalSeconds: true)) }
}
