#if Inspector
import FoundationEssentials
import HTTPTypes
import RxHTTP
import RxWebSocket

/// The events of the Network domain (<https://chromedevtools.github.io/devtools-protocol/tot/Network/>).
enum NetworkMessage {
    /// The frame that all requests belong to.
    static let frameID = "main"

    static func event(_ method: String, _ params: JSON) -> JSON {
        ["method": .string("Network.\(method)"), "params": params]
    }

    // MARK: - Requests

    /// - Parameters:
    ///   - issuedAt: the time when the call was ready to be sent, before it waited for its turn.
    ///   - redirect: the response that led to the request.
    static func requestWillBeSent(
        _ row: NetworkRow, issuedAt: Duration, date: Date, redirect: JSON?, postDataLimit: Int
    ) -> JSON {
        let url = row.shown.url
        let params: JSON = [
            "requestId": .string(row.id), "loaderId": "", "documentURL": .string(url),
            "request": request(row, url, postDataLimit: postDataLimit), "timestamp": seconds(issuedAt),
            "wallTime": .number(date.timeIntervalSince1970), "initiator": row.initiator,
            "redirectHasExtraInfo": .bool(redirect != nil), "type": .string(row.type.rawValue),
            "frameId": .string(frameID),
            "hasUserGesture": false,
        ]
        return event("requestWillBeSent", params.adding(("redirectResponse", redirect)))
    }

    private static func request(_ row: NetworkRow, _ url: String, postDataLimit: Int) -> JSON {
        let request = row.shown.request
        let document: JSON = [
            "url": .string(url), "method": .string(request.method.rawValue),
            "headers": row.shown.requestHeaders, "mixedContentType": "none",
            "initialPriority": "Medium", "referrerPolicy": "no-referrer", "isSameSite": true,
            "hasPostData": .bool(row.shown.bodyCount != 0),
        ]
        // The panel asks for longer ones.
        let data = row.shown.postData(limit: postDataLimit)
        return document.adding(
            ("postData", (row.shown.bodyCount ?? .max) <= postDataLimit ? data.map { .string($0) } : nil))
    }

    static func requestExtraInfo(_ row: NetworkRow) -> JSON {
        event(
            "requestWillBeSentExtraInfo",
            [
                "requestId": .string(row.id), "associatedCookies": row.shown.cookies,
                "headers": row.shown.requestHeaders,
                "connectTiming": ["requestTime": seconds(row.sentAt)],
                "siteHasCookieInOtherPartition": false,
            ])
    }

    // MARK: - Responses

    static func responseReceived(_ row: NetworkRow, _ metrics: TransferMetrics?, isCached: Bool = false)
        -> JSON
    {
        event(
            "responseReceived",
            [
                "requestId": .string(row.id), "loaderId": "", "timestamp": seconds(row.headAt),
                "type": .string(row.type.rawValue), "response": response(row, metrics, isCached: isCached),
                "hasExtraInfo": .bool(!isCached), "frameId": .string(frameID),
            ])
    }

    static func responseExtraInfo(_ row: NetworkRow) -> JSON {
        guard let head = row.head else { return .null }
        return event(
            "responseReceivedExtraInfo",
            [
                "requestId": .string(row.id), "blockedCookies": [],
                "headers": row.responseHeaders, "resourceIPAddressSpace": "Unknown",
                "statusCode": .integer(head.status.code), "cookiePartitionKey": .null,
                "cookiePartitionKeyOpaque": false,
            ])
    }

    static func response(_ row: NetworkRow, _ metrics: TransferMetrics?, isCached: Bool = false) -> JSON {
        let head = row.head ?? ResponseHead(status: .ok)
        let url = row.shown.url
        let response: JSON = [
            "url": .string(url), "status": .integer(head.status.code),
            "statusText": .string(head.status.reasonPhrase), "headers": row.responseHeaders,
            "mimeType": .string(MediaType(head[.contentType]).name), "charset": "utf-8",
            "connectionReused": .bool(metrics?.isConnectionReused ?? false),
            "connectionId": .integer(metrics?.localPort ?? 0),
            "fromDiskCache": false, "fromServiceWorker": false, "fromPrefetchCache": false,
            "encodedDataLength": .integer(metrics?.headBytesReceived ?? head.fieldLines.count),
            "responseTime": .number(row.headDate * 1000),
            "protocol": .string((metrics?.httpVersion ?? head.httpVersion)?.protocolName ?? "http/1.1"),
            "securityState": .string(url.hasPrefix("https:") || url.hasPrefix("wss:") ? "secure" : "neutral"),
        ]
        return response.adding(
            ("timing", isCached ? nil : ResourceTiming(row, metrics).document),
            ("remoteIPAddress", metrics?.remoteAddress.map { .string($0) }),
            ("remotePort", metrics.map { .integer($0.remotePort) }))
    }

    static func servedFromCache(_ row: NetworkRow) -> JSON {
        event("requestServedFromCache", ["requestId": .string(row.id)])
    }

    static func dataReceived(_ row: NetworkRow, count: Int, at time: Duration) -> JSON {
        event(
            "dataReceived",
            [
                "requestId": .string(row.id), "timestamp": seconds(time), "dataLength": .integer(count),
                "encodedDataLength": .integer(count),
            ])
    }

    // MARK: - Ends

    static func finished(_ row: NetworkRow, encodedCount: Int, at time: Duration) -> JSON {
        event(
            "loadingFinished",
            [
                "requestId": .string(row.id), "timestamp": seconds(time),
                "encodedDataLength": .integer(encodedCount),
            ])
    }

    static func failed(
        _ row: NetworkRow, _ text: String, at time: Duration, isCancelled: Bool = false,
        isBlocked: Bool = false
    ) -> JSON {
        let params: JSON = [
            "requestId": .string(row.id), "timestamp": seconds(time), "type": .string(row.type.rawValue),
            "errorText": .string(text), "canceled": .bool(isCancelled),
        ]
        return event("loadingFailed", params.adding(("blockedReason", isBlocked ? "other" : nil)))
    }

    /// An entry of the console that says how many requests are not shown.
    static func omissions(_ count: Int, rate: Int?) -> JSON {
        let rate =
            rate.map { "about \($0) a second (requestsPerSecond), and none " } ?? "none "
        let text =
            "Requests that are not shown so far: \(count). The inspector shows \(rate)while it is behind."
        return [
            "method": "Log.entryAdded",
            "params": [
                "entry": [
                    "source": "network", "level": "warning", "text": .string(text),
                    "timestamp": .number(Date().timeIntervalSince1970 * 1000),
                ]
            ],
        ]
    }

    /// An entry of the console: the panel makes the address a link to the row.
    static func link(to row: NetworkRow) -> JSON {
        [
            "method": "Log.entryAdded",
            "params": [
                "entry": [
                    "source": "network", "level": "info", "text": .string(row.shown.url),
                    "url": .string(row.shown.url), "networkRequestId": .string(row.id),
                    "timestamp": .number(Date().timeIntervalSince1970 * 1000),
                ]
            ],
        ]
    }

    /// A time of the protocol.
    static func seconds(_ time: Duration) -> JSON { .number(time / .seconds(1)) }
}

extension HTTPVersion {
    /// The name in ALPN (RFC 7301), which the panel shows.
    fileprivate var protocolName: String {
        switch self {
        case .http2: "h2"
        case .http3: "h3"
        default: description.lowercased()
        }
    }
}

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
