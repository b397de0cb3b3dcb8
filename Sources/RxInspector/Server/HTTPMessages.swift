#if Inspector
import FlyingSocks
import HTTPTypes
import RxWebSocket

/// The head of a request (RFC 9112 §3 and §5).
struct RequestHead: Equatable, Sendable {
    let method: String
    /// The path as sent, without the query.
    let path: String
    /// The query as sent, without the question mark; empty if there is none.
    let query: String
    /// The server's name and port; `nil` if there is no `Host` field, or more than one.
    let host: String?
    private(set) var fields = HTTPFields()

    /// Parses the lines of a head; `nil` for a malformed one.
    init?(_ bytes: some Sequence<UInt8>) {
        var lines = bytes.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)[...]
        let words = lines.removeFirst().trimmed.split(
            separator: UInt8(ascii: " "), omittingEmptySubsequences: false)
        guard words.count == 3, words[2].starts(with: "HTTP/1.".utf8) else { return nil }
        method = String(decoding: words[0], as: UTF8.self)
        let target = words[1].split(
            separator: UInt8(ascii: "?"), maxSplits: 1, omittingEmptySubsequences: false)
        path = String(decoding: target[0], as: UTF8.self)
        query = target.count > 1 ? String(decoding: target[1], as: UTF8.self) : ""
        var hosts: [String] = []
        for line in lines where !line.trimmed.isEmpty {
            guard let colon = line.firstIndex(of: UInt8(ascii: ":")),
                let name = HTTPField.Name(String(decoding: line[..<colon], as: UTF8.self))
            else { return nil }
            let value = String(decoding: line[(colon + 1)...].trimmed, as: UTF8.self)
            if name.canonicalName == "host" { hosts.append(value) }
            fields.append(HTTPField(name: name, value: value))
        }
        host = hosts.count == 1 ? hosts[0] : nil
    }

    /// The bytes of a head, and those behind it that have come with it.
    ///
    /// - Parameter limit: the maximum number of bytes that are read before the end of the head.
    /// - Returns: `nil` for a head that is larger.
    /// - Throws: if the connection ends before.
    static func read(
        from socket: AsyncSocket, limit: Int
    ) async throws -> (head: ArraySlice<UInt8>, rest: ArraySlice<UInt8>)? {
        var bytes: [UInt8] = []
        while bytes.count < limit {
            // The end may have begun in the part before.
            let start = max(0, bytes.count - 3)
            bytes += try await socket.read(atMost: min(4096, limit - bytes.count))
            if let end = bytes[start...].firstRange(of: [13, 10, 13, 10]) {
                return (bytes[..<end.lowerBound], bytes[end.upperBound...])
            }
        }
        return nil
    }
}

extension ArraySlice<UInt8> {
    /// The bytes without blanks at both ends (RFC 9110 §5.6.3).
    fileprivate var trimmed: ArraySlice<UInt8> {
        func isBlank(_ byte: UInt8) -> Bool { [0x20, 0x09, 0x0D].contains(byte) }
        let start = drop(while: isBlank)
        return start.prefix(start.lastIndex { !isBlank($0) }.map { $0 - start.startIndex + 1 } ?? 0)
    }
}

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

    /// A file of a page: a style, or else a script.
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
