public import HTTPTypes
public import RxLite

/// Carries requests to the network: the boundary between the pipeline and the network.
///
/// A transport turns a request into a cold stream; nothing else is required. Each subscription sends the
/// request once; cancelling closes the transfer; pausing the subscription holds back events, including the
/// head and the end, and stops reading from the network. Events arrive in the order of ``TransferEvent``'s
/// cases, on the transport's ``scheduler``.
///
/// A response of any status is a success here. The stream fails only without a complete response.
public protocol Transport: Sendable {
    /// The exchange that sends `request` unchanged, without following redirects.
    func send(_ request: Request) -> Observable<TransferEvent, NetworkError>

    /// The scheduler of the exchanges, whose clock retries and timeouts use. A transport that wraps another
    /// returns the scheduler of that transport.
    var scheduler: any Scheduler { get }

    /// The scheduler for a stream of requests to `origin`, as far as that is known. Default: ``scheduler``. A
    /// transport with several schedulers returns the one that suits best at the moment.
    func scheduler(for origin: Origin?) -> any Scheduler

    /// The hosts to reach over TLS only, which the transport also learns from responses. Default `nil`: http
    /// URLs are requested over http. A transport that wraps another returns the store of that transport, so
    /// that the layers above, such as cookies, see the URL that is requested.
    var hsts: HSTSStore? { get }

    /// The file system of downloads: that of the machine for a transport that reaches the network, files in memory for a
    /// simulated one. Default: none, so that each operation fails with ``NetworkError/Code/file``. A transport that
    /// wraps another returns the file system of that transport.
    var files: any FileSystem { get }

    /// The changes of the transport's connections, of those that are opened while there is a subscriber. Default: no
    /// event, as for a transport without connections. A transport that wraps another returns the events of that
    /// transport.
    var connections: Observable<ConnectionEvent, Never> { get }
}

extension Transport {
    /// ``scheduler``, for any origin.
    public func scheduler(for origin: Origin?) -> any Scheduler { scheduler }

    /// `nil`: http URLs are requested over http.
    public var hsts: HSTSStore? { nil }

    /// No file system.
    public var files: any FileSystem { AbsentFileSystem() }

    /// No event.
    public var connections: Observable<ConnectionEvent, Never> { .never() }
}

/// An event of a running exchange.
public enum TransferEvent: Sendable {
    // The large ones are indirect: an event is passed on far more often than it is made.

    /// The bytes of the request body handed to the network so far, and the total; `nil` if the total is not
    /// known in advance.
    case uploaded(bytes: Int64, of: Int64?)
    /// The response with this head redirects, and this request is sent instead. Only ``Transport/send(_:following:)``
    /// sends this event, also to announce that a request goes to https instead.
    indirect case redirected(Request, by: ResponseHead)
    /// An informational response before the final one: 100 and 102 to 199 (RFC 9110 §15.2).
    indirect case interim(ResponseHead)
    /// The status line and header fields of the final response.
    indirect case head(ResponseHead)
    /// The next chunk of the body, decoded unless ``Request/decodesContent`` is false.
    case chunk([UInt8])
    /// The fields after the body (RFC 9110 §6.5), if any.
    case trailers(HTTPFields)
    /// The body is complete.
    indirect case finished(TransferMetrics)
}

extension TransferEvent: RedactedDescription {
    /// One line without secrets and without content.
    public var description: String {
        switch self {
        case .uploaded(let bytes, let total):
            "uploaded \(bytes) of \(total.map { "\($0)" } ?? "unknown") bytes"
        case .redirected(let request, by: _): "redirected to \(request)"
        case .interim(let head): "interim \(head)"
        case .head(let head): "head \(head)"
        case .chunk(let bytes): "chunk of \(bytes.count) bytes"
        case .trailers(let fields):
            "trailers " + Redaction().shown(fields).map { "\($0.name): \($0.value)" }.joined(separator: ", ")
        case .finished(let metrics): "finished after \(metrics.total)"
        }
    }
}

/// A change of one of a transport's connections; see ``Transport/connections``.
///
/// Each connection begins with ``Kind/opened``, when its first request is sent, then changes between ``Kind/idle`` and
/// ``Kind/active``, and ends with ``Kind/closed(after:)``.
public struct ConnectionEvent: Sendable {
    /// The kind of an event.
    public enum Kind: Sendable, Hashable {
        /// The connection has been made, and its first request is about to be sent.
        case opened
        /// No request uses the connection; it stays open for later ones.
        case idle
        /// A request uses the idle connection.
        case active
        /// The connection is closed, this long after it was opened.
        case closed(after: Duration)
    }

    /// The kind of the event.
    public var kind: Kind
    /// Identifies the connection among those of the transport.
    public var connection: Int
    /// The origin of the connection's first request.
    public var origin: Origin
    /// The numeric address that the connection leads to, of the proxy if there is one.
    public var remoteAddress: String?

    /// Creates an event.
    public init(_ kind: Kind, of connection: Int, to origin: Origin, remoteAddress: String? = nil) {
        self.kind = kind
        self.connection = connection
        self.origin = origin
        self.remoteAddress = remoteAddress
    }
}
