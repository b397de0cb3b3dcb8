public import FoundationEssentials
public import HTTPTypes
public import RxHTTP
package import RxLite
public import RxWebSocket

/// An event of a client's request, the source of logs, recordings and indicators.
///
/// Each request that begins while ``Client/traffic`` has a subscriber emits one ``Kind/started``, then its
/// events in order, then one ``Kind/ended(_:)``, whether it succeeds, fails or is cancelled. Each hop of each
/// attempt is a separate exchange: ``Kind/sent``, then ``Kind/transfer(_:)`` for the transport's events, then
/// its end, which is `transfer(.finished)`, ``Kind/broken(_:)`` or ``Kind/abandoned``.
///
/// The events contain unchanged requests and responses, including credentials. Apply ``Request/redaction`` before you
/// show them.
public struct TrafficEvent: Sendable {
    /// The kind of an event.
    public enum Kind: Sendable {
        /// The request has been made; nothing has been sent.
        case started
        /// An exchange begins: the complete request is passed to the transport.
        case sent
        /// An event of the transport: the head, the chunks, the end; also a followed redirect, with the next
        /// request.
        case transfer(TransferEvent)
        /// The exchange failed before its end.
        case broken(NetworkError)
        /// The exchange was abandoned: cancelled, timed out, or a redirect whose body is not needed.
        case abandoned
        /// The session logs in again; the request is then repeated.
        case relogin(because: NetworkError)
        /// The request is retried after a wait.
        case retry(after: Duration, because: NetworkError)
        /// The cache provides the response with this head; or, with ``Response/CacheUse/joined``, the request waits
        /// for the response to another request.
        case cached(Response.CacheUse, ResponseHead?)
        /// The request would be retried, but the host's ``RetryBudget`` is spent: the error is final.
        case retryRefused(because: NetworkError)
        /// The request waits for its turn within the client's ``ClientConfiguration/limits``.
        case queued
        /// The request's turn has come. A request that leaves the queue before has no such event.
        case admitted(after: Duration)
        /// The attempt is slow, and a second one begins in parallel.
        case hedged(after: Duration)
        /// The server did not respond, and the request is sent to this server of the service.
        case failover(to: Servers.Role, because: NetworkError)
        /// A message of a WebSocket, whole and decompressed: sent to the server, or received from it. The chunks of
        /// ``transfer(_:)`` are its frames.
        case webSocket(WebSocketMessage, isSent: Bool)
        /// The last event of the request.
        case ended(Summary)
    }

    /// The kind of the event.
    public let kind: Kind
    /// The current state of the request. Its ``Request/id`` is the same in all events of one request.
    public let request: Request
    /// The number of the exchange within the request, from 1; 0 before the first.
    public let exchange: Int
    /// The time of the event, on the clock of the client's transport.
    public let time: Duration
    /// The time of the event as a date.
    public let date: Date
    /// The call that the event belongs to.
    package var origin: CallOrigin?
    /// The body of a stored response, for ``Kind/cached(_:_:)``; empty after a revalidation.
    package var cachedBody: [UInt8] = []
    /// The marble of an inspected stream that led to the request, if one is known.
    package var cause: StreamCause?
    /// The samplings that have chosen the request.
    var samplings: [RequestSampling] = []
}

extension TrafficEvent {
    /// The outcome and duration of a request.
    public struct Summary: Sendable {
        /// The outcome of the request.
        public var outcome: RequestOutcome
        /// The status of the last response, if one has begun.
        public var status: HTTPResponse.Status?
        /// The number of decoded body bytes received in all exchanges.
        public var bytesReceived: Int64
        /// The number of attempts that have begun.
        public var attempts: Int
        /// The time from the start to the end, including waits.
        public var duration: Duration
    }
}

extension TrafficEvent {
    /// Identifies an exchange among the exchanges of all requests.
    package struct ExchangeID: Hashable, Sendable {
        package let request: RequestID
        package let number: Int
    }

    package var exchangeID: ExchangeID { ExchangeID(request: request.id, number: exchange) }
}

extension TrafficEvent: RedactedDescription {
    /// One line without secrets: the event and the request.
    public var description: String {
        let word =
            switch kind {
            case .started: "started"
            case .sent: "sent"
            case .transfer(.redirected): "redirected"
            case .transfer(.head(let head)): "response \(head.status.code)"
            case .transfer(.chunk(let bytes)): "received \(bytes.count) bytes"
            case .transfer(.finished): "received"
            case .transfer: "transferred"
            case .broken(let error): "broken (\(error.code.rawValue))"
            case .abandoned: "abandoned"
            case .relogin(let error): "logging in again (\(error.code.rawValue))"
            case .retry(let delay, let error): "retrying in \(delay) (\(error.code.rawValue))"
            case .cached(.joined, _): "waiting for another request's response"
            case .cached(let use, _): "response from the cache (\(use.rawValue))"
            case .retryRefused(let error): "not retrying (\(error.code.rawValue))"
            case .failover(let role, let error): "going to the \(role) server (\(error.code.rawValue))"
            case .queued: "queued"
            case .admitted(let wait): "admitted after \(wait)"
            case .hedged(let delay): "hedged after \(delay)"
            case .webSocket(_, let isSent): isSent ? "sent a message" : "received a message"
            case .ended: "ended"
            }
        return "\(request.id) \(word): \(request.method.rawValue) \(request.shownURL)"
    }
}

extension Body {
    /// The bytes of the body, if they are in memory.
    var known: [UInt8] {
        guard case .bytes(let bytes) = self else { return [] }
        return bytes
    }
}
