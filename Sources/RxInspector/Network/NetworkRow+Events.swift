#if Inspector
import FoundationEssentials
import HTTPTypes
import RxClient
import RxHTTP

/// The steps of a row. Each returns the messages to send, with the phase in which they are kept.
extension NetworkRow {
    typealias Told = (message: JSON, phase: Phase?)

    func tellRequest(
        _ event: TrafficEvent, _ issuedAt: Duration, _ redirect: JSON?, _ postDataLimit: Int
    ) -> Told {
        (
            NetworkMessage.requestWillBeSent(
                self, issuedAt: issuedAt,
                // The wall clock at the time of the issue.
                date: event.date - (event.time - issuedAt) / .seconds(1), redirect: redirect,
                postDataLimit: postDataLimit),
            .opening
        )
    }

    /// The same, with the fields as sent, for a request that reaches the network.
    func tellHop(
        _ event: TrafficEvent, _ issuedAt: Duration, _ redirect: JSON?, _ postDataLimit: Int
    ) -> [Told] {
        [
            tellRequest(event, issuedAt, redirect, postDataLimit),
            (NetworkMessage.requestExtraInfo(self), .opening),
        ]
    }

    /// The metrics of a response that redirects.
    var heldMetrics: TransferMetrics? {
        if case .finished(let metrics, _) = heldEnd { metrics } else { nil }
    }

    mutating func receive(_ head: ResponseHead, at time: Duration, _ date: Date) {
        self.head = head
        responseHeaders = shown.headers(of: head)
        headAt = time
        headDate = date.timeIntervalSince1970
        hasNewHead = true
        type = isWebSocket ? .webSocket : ResourceType(head) ?? type
        if type == .eventSource { events = EventStreamParser(limit: Self.eventLimit) }
    }

    /// The maximum number of bytes of an event of an event stream.
    private static let eventLimit = 1 << 20

    /// Notes that so many bytes of the body, or of the messages, are not known.
    mutating func omit(_ count: Int, at time: Duration) -> [Told] {
        omit(count)
        guard !isWebSocket else { return [] }
        return tellHead(nil) + [(NetworkMessage.dataReceived(self, count: count, at: time), nil)]
    }

    mutating func receive(_ bytes: [UInt8], limit: Int, at time: Duration) -> [Told] {
        // The frames of a WebSocket; its messages are shown instead.
        guard head?.status != .switchingProtocols else { return [] }
        keep(body: bytes, limit: limit)
        // Told together with the head, at the end of the batch at the latest.
        if hasNewHead, isRedirecting || events == nil {
            untoldCount += bytes.count
            return []
        }
        var told = tellHead(nil)
        told.append((NetworkMessage.dataReceived(self, count: bytes.count, at: time), nil))
        guard events != nil else { return told }
        var found: [EventStreamParser.Output] = []
        do throws(NetworkError) {
            try events?.read(bytes, into: &found)
        } catch {
            // The client fails at the same place, and tells why.
            events = nil
        }
        for case .event(let event) in found {
            told.append((NetworkMessage.eventReceived(self, event, at: time), .stream))
        }
        return told
    }

    /// Tells of the response, if it is new.
    mutating func tellHead(_ metrics: TransferMetrics?) -> [Told] {
        guard hasNewHead else { return [] }
        hasNewHead = false
        guard !isWebSocket else { return [(NetworkMessage.webSocketResponse(self), .opening)] }
        var told: [Told] = [
            (NetworkMessage.responseExtraInfo(self), .opening),
            (NetworkMessage.responseReceived(self, metrics), .opening),
        ]
        if untoldCount > 0 {
            told.append((NetworkMessage.dataReceived(self, count: untoldCount, at: headAt), nil))
        }
        untoldCount = 0
        return told
    }

    mutating func tellEnd(_ metrics: TransferMetrics, at time: Duration) -> [Told] {
        defer { hasEnded = true }
        let told = tellHead(metrics)
        guard !isWebSocket else { return told + [(NetworkMessage.webSocketClosed(self, at: time), .closing)] }
        let count = metrics.headBytesReceived + metrics.bodyBytesReceived
        return told + [(NetworkMessage.finished(self, encodedCount: count, at: time), .closing)]
    }

    mutating func tellFailure(_ error: NetworkError, at time: Duration) -> [Told] {
        defer { hasEnded = true }
        let told = tellHead(nil)
        guard !isWebSocket else {
            return told + [
                (NetworkMessage.webSocketError(self, error.shown, at: time), .closing),
                (NetworkMessage.webSocketClosed(self, at: time), .closing),
            ]
        }
        return told + [(NetworkMessage.failed(self, error.shown, at: time), .closing)]
    }

    mutating func tellAbandonment(at time: Duration) -> [Told] {
        defer { hasEnded = true }
        let told = tellHead(nil)
        guard !isWebSocket else { return told + [(NetworkMessage.webSocketClosed(self, at: time), .closing)] }
        return told + [(NetworkMessage.failed(self, "abandoned", at: time, isCancelled: true), .closing)]
    }
}
#endif
