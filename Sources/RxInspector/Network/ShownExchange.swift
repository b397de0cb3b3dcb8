#if Inspector
import FoundationEssentials
import HTTPTypes
import RxHTTP
import RxWebSocket

/// The parts of an exchange as the developer sees them: without secrets, unless these are asked for.
struct ShownExchange {
    /// The request with the kept part of its body.
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
        var places: [String: Int] = [:]
        let shown = showsSecrets ? nil : request.redaction.shown(fields)
        for (index, field) in fields.enumerated() {
            let value =
                switch field.name {
                case .setCookie where !showsSecrets: hidingValue(ofCookie: field.value)
                case .cookie where !showsSecrets:
                    field.value.split(separator: ";").map { hidingValue(ofCookie: String($0)) }
                        .joined(separator: ";")
                default: shown?[index].value ?? field.value
                }
            if let place = places[field.name.canonicalName] {
                let separator = field.name == .setCookie ? "\n" : ", "
                members[place].1 = .string((members[place].1.string ?? "") + separator + value)
            } else {
                places[field.name.canonicalName] = members.count
                members.append((field.name.rawName, .string(value)))
            }
        }
        return .text(JSON.object(members).bytes)
    }

    /// `name=…; Path=/` for a cookie; a text that is no cookie is hidden as a whole.
    private static func hidingValue(ofCookie text: String) -> String {
        guard let equals = text.firstIndex(of: "=") else { return Redaction.mark }
        return text[...equals] + Redaction.mark + text[equals...].drop { $0 != ";" }
    }

    /// The cookies of the request, as a list of `Network.AssociatedCookie`.
    var cookies: JSON {
        let pairs = request.headerFields[values: .cookie].flatMap { $0.split(separator: ";") }
        let domain = request.url.host() ?? ""
        return .array(
            pairs.map { pair in
                let parts = pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
                let name = String(parts[0].drop { $0 == " " })
                let value = parts.count > 1 ? String(parts[1]) : ""
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
        // A text that is cut off within a character is still text.
        if MediaType(type).isText { return Self.body(String(decoding: shown, as: UTF8.self)) }
        if let text = String(validating: shown, as: UTF8.self), type == nil { return Self.body(text) }
        return ["body": .string(Data(shown).base64EncodedString()), "base64Encoded": true]
    }

    private static func body(_ text: String) -> JSON { ["body": .string(text), "base64Encoded": false] }

    /// The data of an event of an event stream, most of which are JSON.
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
#endif
