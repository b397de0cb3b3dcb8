#if Inspector
import FoundationEssentials
import HTTPTypes
import RxHTTP
import RxWebSocket

/// The parts of an exchange as the developer sees them: without secrets, unless these are asked for.
struct ShownExchange {
    /// The request with the kept part of its body. It has all its secrets: each text that is made of it must respect
    /// ``showsSecrets``.
    let request: Request
    /// The number of bytes of the body; `nil` if it is unknown.
    let bodyCount: Int64?
    let showsSecrets: Bool
    let url: String
    /// The header fields of the request, as a `Network.Headers` object.
    let requestHeaders: JSON

    init(_ request: Request, _ settings: Inspector.Settings) {
        self.request = request.keepingBody(upTo: settings.bodyLimit)
        bodyCount = request.body.count
        showsSecrets = settings.showsSecrets
        url = showsSecrets ? request.urlText : request.shownURL
        requestHeaders = Self.headers(request.headerFields, of: request, showsSecrets: showsSecrets)
        byteCount = self.request.byteCount + url.utf8.count + requestHeaders.textCount
    }

    /// The bytes that the request takes, approximately: its fields and their text, the URL, and the kept part of the body.
    let byteCount: Int

    /// The header fields of a response, as a `Network.Headers` object.
    func headers(of head: ResponseHead) -> JSON {
        Self.headers(head.headerFields, of: request, showsSecrets: showsSecrets)
    }

    /// Repeated fields are joined, `Set-Cookie` by line feeds. As text, because several messages contain it.
    private static func headers(_ fields: HTTPFields, of request: Request, showsSecrets: Bool) -> JSON {
        var members: [(String, JSON)] = []
        var indices: [String: Int] = [:]
        let shown = showsSecrets ? nil : request.redaction.shown(fields)
        for (index, field) in fields.enumerated() {
            let value =
                switch field.name {
                case .setCookie where !showsSecrets: hidingValue(ofCookie: field.value)
                case .cookie where !showsSecrets:
                    field.value.parts(at: ";").map { hidingValue(ofCookie: $0) }.joined(separator: ";")
                default: shown?[index].value ?? field.value
                }
            if let known = indices[field.name.canonicalName] {
                let separator = field.name == .setCookie ? "\n" : ", "
                members[known].1 = .string((members[known].1.string ?? "") + separator + value)
            } else {
                indices[field.name.canonicalName] = members.count
                members.append((field.name.rawName, .string(value)))
            }
        }
        return .text(JSON.object(members).bytes)
    }

    /// `name=…; Path=/`, or `…; Path=/` for a cookie without a name.
    private static func hidingValue(ofCookie text: some StringProtocol) -> String {
        let (pair, attributes) = text.cut(at: ";")
        let (name, value) = pair.cut(at: "=")
        let hidden = value == nil ? Redaction.mark : "\(name)=\(Redaction.mark)"
        return hidden + (attributes.map { ";\($0)" } ?? "")
    }

    /// The cookies of the request, as a list of `Network.AssociatedCookie`.
    var cookies: JSON {
        let pairs = request.headerFields[values: .cookie].flatMap { $0.parts(at: ";") }
        let domain = request.url.host() ?? ""
        return .array(
            pairs.map { pair in
                let (start, rest) = pair.cut(at: "=")
                // Without `=`, the text is the value of a cookie without a name.
                let name = rest == nil ? "" : String(start.trimmingBlanks())
                let value = String(rest ?? start.trimmingBlanks())
                let cookie: JSON = [
                    "name": .string(name), "value": .string(showsSecrets ? value : Redaction.mark),
                    "domain": .string(domain), "path": "/", "expires": -1,
                    "size": .integer(name.utf8.count + value.utf8.count), "httpOnly": false, "secure": false,
                    "session": true, "priority": "Medium", "sourceScheme": "Unset", "sourcePort": -1,
                ]
                return ["blockedReasons": [], "cookie": cookie]
            })
    }

    /// The kept part of the body of the request as text; `nil` if there is none or it is not in memory.
    func postData(limit: Int) -> String? {
        guard case .bytes(let bytes) = request.body, !bytes.isEmpty else { return nil }
        let start = Array(bytes.prefix(limit))
        return String(decoding: showsSecrets ? start : request.shown(start), as: UTF8.self)
    }

    /// Content of the response: text, or binary data in base64.
    func body(_ bytes: [UInt8], type: String?) -> JSON {
        let shown = showsSecrets ? bytes : request.redaction.shown(bytes, type: type)
        // Only declared text may have been cut off, even within a character.
        if MediaType(type).isText { return Self.textBody(String(decoding: shown, as: UTF8.self)) }
        if let text = String(validating: shown, as: UTF8.self), type == nil { return Self.textBody(text) }
        return ["body": .string(Data(shown).base64EncodedString()), "base64Encoded": true]
    }

    private static func textBody(_ text: String) -> JSON { ["body": .string(text), "base64Encoded": false] }

    /// The data of an event of an event stream, which is JSON in most cases.
    func text(_ text: String) -> String {
        guard !showsSecrets else { return text }
        return String(decoding: request.redaction.shown(json: Array(text.utf8)), as: UTF8.self)
    }

    private func shown(binary bytes: [UInt8]) -> [UInt8] {
        showsSecrets ? bytes : request.redaction.shown(bytes, type: "application/octet-stream")
    }

    /// The payload of a frame, and its opcode (RFC 6455 §5.2).
    func payload(_ message: WebSocketMessage) -> (data: String, opcode: Int) {
        switch message {
        case .text(let text): (self.text(text), 1)
        case .binary(let bytes): (Data(shown(binary: bytes)).base64EncodedString(), 2)
        }
    }
}

/// The phases of an exchange for the waterfall, as `Network.ResourceTiming`: milliseconds since the request left the
/// queue, and −1 for phases that did not occur. `HAR.Timings` divides the time in the same way; change both.
struct ResourceTiming {
    private let requestTime: Duration
    private var dns: (start: Double, end: Double) = (-1, -1)
    private var connect: (start: Double, end: Double) = (-1, -1)
    private var tls: (start: Double, end: Double) = (-1, -1)
    private var send: (start: Double, end: Double) = (0.001, 0.001)
    private var firstByte: Double

    /// - Parameter metrics: the measured phases; without them, only the time of the head is known.
    init(_ row: NetworkRow, _ metrics: TransferMetrics?) {
        guard let metrics else {
            requestTime = row.sentAt
            firstByte = max(0, (row.headAt - row.sentAt) / .milliseconds(1))
            return
        }
        requestTime = row.sentAt + metrics.queued
        // The panel takes a phase that begins at zero for one that did not occur.
        var reached = Duration.microseconds(1)
        /// The phase until `mark`, which an early response may have overtaken.
        func phase(until mark: Duration) -> (start: Double, end: Double) {
            let start = reached
            reached = min(max(mark, reached), max(metrics.total, reached))
            return (start / .milliseconds(1), reached / .milliseconds(1))
        }
        if !metrics.isConnectionReused {
            dns = phase(until: metrics.resolved)
            connect = phase(until: max(metrics.connected, metrics.secured))
            if metrics.secured > metrics.connected {
                tls = (max(metrics.connected / .milliseconds(1), connect.start), connect.end)
            }
        }
        send = phase(until: metrics.sent)
        firstByte = phase(until: metrics.firstByte).end
    }

    var document: JSON {
        [
            "requestTime": NetworkMessage.seconds(requestTime), "proxyStart": -1, "proxyEnd": -1,
            "dnsStart": .number(dns.start), "dnsEnd": .number(dns.end),
            "connectStart": .number(connect.start),
            "connectEnd": .number(connect.end), "sslStart": .number(tls.start), "sslEnd": .number(tls.end),
            "workerStart": -1, "workerReady": -1, "workerFetchStart": -1, "workerRespondWithSettled": -1,
            "sendStart": .number(send.start), "sendEnd": .number(send.end), "pushStart": 0, "pushEnd": 0,
            "receiveHeadersStart": .number(firstByte), "receiveHeadersEnd": .number(firstByte),
        ]
    }
}

/// A `Network.ResourceType`, by which the panel filters.
enum ResourceType: String {
    case document = "Document"
    case stylesheet = "Stylesheet"
    case image = "Image"
    case media = "Media"
    case font = "Font"
    case script = "Script"
    case fetch = "Fetch"
    case eventSource = "EventSource"
    case webSocket = "WebSocket"

    /// The type that a request asks for.
    init(_ request: Request) {
        if request.upgrade != nil {
            self = .webSocket
        } else if request.headerFields[.accept]?.contains("text/event-stream") == true {
            self = .eventSource
        } else {
            self = .fetch
        }
    }

    /// The type of a response; `nil` if the request tells more.
    init?(_ head: ResponseHead) {
        let name = MediaType(head[.contentType]).name
        switch name {
        case "text/event-stream": self = .eventSource
        case "text/html", "application/xhtml+xml": self = .document
        case "text/css": self = .stylesheet
        case _ where name.hasPrefix("image/"): self = .image
        case _ where name.hasPrefix("audio/") || name.hasPrefix("video/"): self = .media
        case _ where name.hasPrefix("font/"): self = .font
        case _ where name.hasSuffix("javascript"): self = .script
        default: return nil
        }
    }
}
#endif
