#if Inspector
import FoundationEssentials
import HTTPTypes
import RxHTTP
import RxWebSocket

/// The events of WebSockets and event streams.
extension NetworkMessage {
    static func webSocketCreated(_ row: NetworkRow) -> JSON {
        event(
            "webSocketCreated",
            [
                "requestId": .string(row.id), "url": .string(row.webSocketURL), "initiator": row.initiator,
            ])
    }

    static func webSocketHandshake(_ row: NetworkRow, date: Date) -> JSON {
        event(
            "webSocketWillSendHandshakeRequest",
            [
                "requestId": .string(row.id), "timestamp": seconds(row.sentAt),
                "wallTime": .number(date.timeIntervalSince1970),
                "request": ["headers": row.shown.requestHeaders],
            ])
    }

    static func webSocketResponse(_ row: NetworkRow) -> JSON {
        guard let head = row.head else { return .null }
        return event(
            "webSocketHandshakeResponseReceived",
            [
                "requestId": .string(row.id), "timestamp": seconds(row.headAt),
                "response": [
                    "status": .integer(head.status.code), "statusText": .string(head.status.reasonPhrase),
                    "headers": row.responseHeaders,
                    "requestHeaders": row.shown.requestHeaders,
                ],
            ])
    }

    static func webSocketFrame(
        _ row: NetworkRow, _ message: WebSocketMessage, isSent: Bool, limit: Int, at time: Duration
    ) -> JSON {
        let (data, opcode) = message.count <= limit ? row.shown.payload(message) : ("(too large)", 1)
        return event(
            isSent ? "webSocketFrameSent" : "webSocketFrameReceived",
            [
                "requestId": .string(row.id), "timestamp": seconds(time),
                // Frames of the browser are masked, and the panel takes the others for received ones.
                "response": [
                    "opcode": .integer(opcode), "mask": .bool(isSent), "payloadData": .string(data),
                ],
            ])
    }

    static func webSocketError(_ row: NetworkRow, _ text: String, at time: Duration) -> JSON {
        event(
            "webSocketFrameError",
            [
                "requestId": .string(row.id), "timestamp": seconds(time), "errorMessage": .string(text),
            ])
    }

    static func webSocketClosed(_ row: NetworkRow, at time: Duration) -> JSON {
        event("webSocketClosed", ["requestId": .string(row.id), "timestamp": seconds(time)])
    }

    static func eventReceived(_ row: NetworkRow, _ received: ServerSentEvent, at time: Duration) -> JSON {
        event(
            "eventSourceMessageReceived",
            [
                "requestId": .string(row.id), "timestamp": seconds(time),
                "eventName": .string(received.type), "eventId": .string(received.lastEventID),
                "data": .string(row.shown.text(received.data)),
            ])
    }
}

extension NetworkRow {
    /// The URL with the scheme of WebSockets, by which the panel recognizes them.
    fileprivate var webSocketURL: String {
        let url = shown.url
        return url.hasPrefix("http") ? "ws" + url.dropFirst(4) : url
    }
}
#endif
