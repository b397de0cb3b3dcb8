#if Inspector
import HTTPTypes
import RxWebSocket

/// The response to a request; the connection ends with it, unless it becomes a WebSocket.
struct InspectorResponse: Sendable {
    private let status: HTTPResponse.Status
    private let fields: [(name: String, value: String)]
    private let body: [UInt8]
    /// Makes the session of a WebSocket, which sends by the outbox; `nil` for other responses.
    let session: (@Sendable (MessageOutbox) -> any SocketSession)?

    private init(
        _ status: HTTPResponse.Status, _ fields: [(name: String, value: String)], _ body: [UInt8] = [],
        session: (@Sendable (MessageOutbox) -> any SocketSession)? = nil
    ) {
        (self.status, self.fields, self.body, self.session) = (status, fields, body, session)
    }

    static func json(_ document: [UInt8]) -> InspectorResponse {
        InspectorResponse(.ok, [("Content-Type", "application/json; charset=UTF-8")], document)
    }

    static func html(_ document: String, _ fields: [(name: String, value: String)]) -> InspectorResponse {
        InspectorResponse(
            .ok, [("Content-Type", "text/html; charset=UTF-8")] + fields, Array(document.utf8))
    }

    /// A file of a page.
    static func file(_ content: [UInt8], named name: String) -> InspectorResponse {
        let type = name.hasSuffix(".css") ? "text/css" : "text/javascript"
        return InspectorResponse(
            .ok,
            [("Content-Type", "\(type); charset=UTF-8"), ("Cross-Origin-Resource-Policy", "same-origin")],
            content)
    }

    static func text(_ status: HTTPResponse.Status, _ text: String) -> InspectorResponse {
        InspectorResponse(
            status, [("Content-Type", "text/plain; charset=UTF-8")], Array("\(text)\n".utf8))
    }

    /// Accepts a WebSocket, or refuses a request that asks for none (RFC 6455 §4.2.2).
    ///
    /// - Parameter session: makes the session, which sends by the outbox.
    static func webSocket(
        _ request: RequestHead, _ session: @escaping @Sendable (MessageOutbox) -> any SocketSession
    ) -> InspectorResponse {
        do throws(WebSocketHandshakeError) {
            let fields = try WebSocketHandshake.answer(to: request.fields).fields
            return InspectorResponse(
                .switchingProtocols, fields.map { ($0.name.rawName, $0.value) }, session: session)
        } catch {
            return .text(.badRequest, "\(error)")
        }
    }

    /// The response as sent. Its fields keep the token in this browser window: no copies, no `Referer`, no frames.
    var bytes: [UInt8] {
        var lines = ["HTTP/1.1 \(status.code) \(status.reasonPhrase)"]
        lines += fields.map { "\($0.name): \($0.value)" }
        lines += [
            "Cache-Control: no-store", "Referrer-Policy: no-referrer", "X-Content-Type-Options: nosniff",
            "X-Frame-Options: DENY",
        ]
        if session == nil { lines += ["Content-Length: \(body.count)", "Connection: close"] }
        return Array((lines + ["", ""]).joined(separator: "\r\n").utf8) + body
    }
}
#endif
