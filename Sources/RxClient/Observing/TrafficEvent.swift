public import FoundationEssentials
public import HTTPTypes
public import RxHTTP

/// One thing that happened to one request of a client: what logs, recordings and indicators are made of.
///
/// For each request that begins while ``Client/traffic`` is listened to there is one ``Kind/started``, then what
/// happens to it in the order in which it happens, then one ``Kind/ended(_:)``, whether it succeeds, fails or is
/// cancelled. Each hop of each attempt is a separate exchange: ``Kind/sent``, then ``Kind/transfer(_:)`` for the
/// transport's events, then its end, which is `transfer(.finished)`, ``Kind/broken(_:)`` or ``Kind/abandoned``.
///
/// The events hold unchanged requests and responses, including credentials. Show what you show of them through
/// ``Request/redaction``.
public struct TrafficEvent: Sendable {
    /// What happened.
    public enum Kind: Sendable {
        /// The request is made, and nothing sent.
        case started
        /// An exchange begins: the request goes to the transport with everything in it.
        case sent
        /// An event of the transport: the head, the chunks, the end. Also that a redirect is followed, with the request
        /// that comes next.
        case transfer(TransferEvent)
        /// The exchange broke off.
        case broken(NetworkError)
        /// The exchange was given up: cancelled, out of time, or a redirect whose body is of no interest.
        case abandoned
        /// The session logs in again, and the request is then repeated.
        case relogin(because: NetworkError)
        /// The request is tried again after a wait.
        case retry(after: Duration, because: NetworkError)
        /// The cache provides the response with this head; or, with ``CacheUse/joined``, the request waits for
        /// the response to another one.
        case cached(CacheUse, ResponseHead?)
        /// The request would be tried again, but the host's ``RetryBudget`` is spent: the error stands.
        case retryRefused(because: NetworkError)
        /// The request waits for its turn in the client's ``ClientConfiguration/limits``.
        case queued
        /// Its turn has come, or it has been cancelled.
        case admitted(after: Duration)
        /// The attempt takes long, and a second one is begun beside it.
        case hedged(after: Duration)
        /// The server did not respond, and the request goes to this server of the service.
        case failover(to: ServerRole, because: NetworkError)
        /// Nothing more happens to this request.
        case ended(Summary)
    }

    /// What happened.
    public let kind: Kind
    /// The current state of the request. Its ``Request/id`` is the same in all events of one request.
    public let request: Request
    /// Counts the exchanges of the request from 1; 0 before the first.
    public let exchange: Int
    /// When, on the clock of the client's transport.
    public let time: Duration
    /// The same as a date.
    public let date: Date
}

extension TrafficEvent {
    /// The outcome and duration of a request.
    public struct Summary: Sendable {
        /// How it ended.
        public enum Outcome: Sendable {
            /// The subscriber got its result.
            case succeeded
            /// The subscriber got an error.
            case failed(NetworkError)
            /// The subscriber left.
            case cancelled
        }

        /// How it ended.
        public var outcome: Outcome
        /// The status of the last response, if one had begun.
        public var status: HTTPResponse.Status?
        /// Decoded bytes of body received, of all exchanges.
        public var bytesReceived: Int64
        /// How many attempts were begun.
        public var attempts: Int
        /// From the start to the end, waits included.
        public var duration: Duration
    }
}

extension TrafficEvent {
    /// Names an exchange among those of all requests.
    struct ExchangeID: Hashable {
        let request: RequestID
        let number: Int
    }

    var exchangeID: ExchangeID { ExchangeID(request: request.id, number: exchange) }
}

extension TrafficEvent: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// One line without secrets: what happened, to which request.
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
            case .ended: "ended"
            }
        return "\(request.id) \(word): \(request.method.rawValue) \(request.shownURL)"
    }

    /// The same as ``description``.
    public var debugDescription: String { description }

    /// Empty, so that `dump` shows only ``description``.
    public var customMirror: Mirror { Mirror(self, children: []) }
}
