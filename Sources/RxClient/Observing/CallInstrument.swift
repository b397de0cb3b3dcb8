package import HTTPTypes
package import RxHTTP
package import RxLite

/// Watches the calls of a client: the base of metrics and tracing.
///
/// It costs a call less than a subscriber of ``Client/traffic``: events are passed on unchanged, without a copy of the
/// request, a time and a place in a stream. See `Docs/Decisions/Instruments.md`.
package protocol CallInstrument: AnyObject, Sendable {
    /// Whether the start and the end of calls matter, besides those of exchanges and what happens in between.
    var watchesCalls: Bool { get }

    /// No further calls are recorded; those that have begun are recorded to their end.
    func stop()

    /// Makes the record of a call that is about to begin.
    func record(of call: RecordedCall) -> any CallRecord
}

/// A call as an instrument sees it.
package class RecordedCall: @unchecked Sendable {
    // Unchecked: constants only; the subclass guards its variables.

    /// The kind of the call.
    package final let kind: CallKind
    /// The request before its attempts.
    package final let request: Request
    /// The endpoint's path, with its placeholders; `nil` for a request without an endpoint.
    package final let pathTemplate: String?
    /// Whether the call loads a page of a list.
    package final let isPage: Bool
    /// The scheduler of the call, whose clock times it.
    package final let scheduler: any Scheduler
    final let servers: ServerPair

    /// The path of the main server's base URL, such as `/v1`; empty if it has none.
    package final var basePath: String { servers.main.basePath }

    init(
        _ request: Request, _ kind: CallKind, path: String?, isPage: Bool, at servers: ServerPair,
        on scheduler: any Scheduler
    ) {
        self.request = request
        self.kind = kind
        pathTemplate = path
        self.isPage = isPage
        self.servers = servers
        self.scheduler = scheduler
    }
}

/// Where an exchange goes. Each server of a service has one, so instruments may compare destinations by identity.
package final class ExchangeDestination: Sendable {
    package let origin: Origin?
    /// The path of the base URL of the server; `nil` for a redirect that leads to neither.
    package let basePath: String?
    /// The circuit breaker of the host, if there is one; `nil` for a redirect that leads to another host.
    package let breaker: CircuitBreaker?

    init(origin: Origin?, basePath: String?, breaker: CircuitBreaker?) {
        self.origin = origin
        self.basePath = basePath
        self.breaker = breaker
    }
}

/// An instrument's record of one call, or of all calls, since each method is told the call. Called on the call's
/// scheduler, or where the subscriber cancels: calls that wait for the same response share the exchanges of the first
/// one, which may end before them.
///
/// A record must not hold its call, which holds the record.
package protocol CallRecord: AnyObject, Sendable {
    /// The call begins, in this lane. Not called unless ``CallInstrument/watchesCalls``.
    func begin(_ call: RecordedCall, in lane: Lane)

    /// The call has made its output. Called on another thread if the response was large.
    func recordOutput(of call: RecordedCall)

    /// Something happens between exchanges: a login, a retry, a wait, a use of the cache. May come from several attempts
    /// at a time.
    func receive(_ event: TrafficEvent.Kind, of call: RecordedCall)

    /// An exchange begins. It sends `request`, which the record may change.
    func exchange(
        _ request: inout Request, to destination: ExchangeDestination, of call: RecordedCall
    ) -> any ExchangeRecord

    /// The call has ended. Not called unless ``CallInstrument/watchesCalls``.
    func end(_ call: RecordedCall, _ outcome: RequestOutcome)
}

/// An instrument's record of one exchange. Called in the call's lane.
package protocol ExchangeRecord: AnyObject, Sendable {
    /// An event of the exchange. `finished` is the last one, and the exchange has ended with it.
    func receive(_ event: TransferEvent)

    /// The server has switched protocols, and the client agrees: the handshake has succeeded.
    func recordUpgrade()

    /// The exchange has ended without `finished`: it failed, or was abandoned if there is no error. An exchange that is
    /// abandoned because the call fails, by a time limit for example, ends with the error of the call.
    func end(_ error: NetworkError?)
}

// MARK: - Several instruments

/// The records of several instruments.
final class CallRecords: CallRecord {
    private let records: [any CallRecord]

    init(_ records: [any CallRecord]) { self.records = records }

    func begin(_ call: RecordedCall, in lane: Lane) { for record in records { record.begin(call, in: lane) } }
    func recordOutput(of call: RecordedCall) { for record in records { record.recordOutput(of: call) } }

    func receive(_ event: TrafficEvent.Kind, of call: RecordedCall) {
        for record in records { record.receive(event, of: call) }
    }

    func end(_ call: RecordedCall, _ outcome: RequestOutcome) {
        for record in records { record.end(call, outcome) }
    }

    func exchange(
        _ request: inout Request, to destination: ExchangeDestination, of call: RecordedCall
    ) -> any ExchangeRecord {
        var exchanges: [any ExchangeRecord] = []
        for record in records {
            exchanges.append(record.exchange(&request, to: destination, of: call))
        }
        return ExchangeRecords(exchanges)
    }
}

/// The records of several instruments for one exchange.
private final class ExchangeRecords: ExchangeRecord {
    private let records: [any ExchangeRecord]

    init(_ records: [any ExchangeRecord]) { self.records = records }

    func receive(_ event: TransferEvent) { for record in records { record.receive(event) } }
    func recordUpgrade() { for record in records { record.recordUpgrade() } }
    func end(_ error: NetworkError?) { for record in records { record.end(error) } }
}

/// The call that events belong to.
package final class CallOrigin: Sendable {
    /// The endpoint; `nil` for a request built by hand.
    package let endpoint: (any Endpoint)?
    /// The kind of the call.
    package let kind: CallKind

    init(_ kind: CallKind, _ endpoint: (any Endpoint)?) {
        self.kind = kind
        self.endpoint = endpoint
    }
}

// MARK: - Conventions

// Values of attributes as the semantic conventions of OpenTelemetry define them, for metrics and tracing.
// https://opentelemetry.io/docs/specs/semconv/http/

extension HTTPRequest.Method {
    /// The methods of RFC 9110 §9 and RFC 5789.
    private static let known: Set<String> = [
        "GET", "HEAD", "POST", "PUT", "DELETE", "CONNECT", "OPTIONS", "TRACE", "PATCH",
    ]

    /// Whether the method may be the value of `http.request.method`, which is otherwise `_OTHER`.
    package var isConventional: Bool { Self.known.contains(rawValue) }
}

extension NetworkError {
    /// The value of `error.type`: the status, if that is the error, and otherwise the code.
    package var conventionalType: String {
        if code == .status, let status { "\(status.code)" } else { code.rawValue }
    }
}

extension HTTPVersion {
    /// The value of `network.protocol.version`: `1.1`, `2`, the description without `HTTP/` at its beginning.
    package var conventionalNumber: String { String(description.dropFirst("HTTP/".utf8.count)) }
}

extension RecordedCall {
    /// Whether the end of a call without an error and without its whole response is as it should be: that of a redirect,
    /// whose body is not needed, or of a stream that the subscriber has read as far as it wanted.
    ///
    /// - Parameter status: the status of the response, if there was one.
    package func mayBeLeft(after status: Int?) -> Bool {
        guard let status else { return false }
        let isStream = kind == .stream || kind == .events || kind == .webSocket
        return (300...399).contains(status) || isStream && status < 300
    }
}

extension String {
    /// The value of `url.template` for an endpoint's path: the path that says which operation it is, from the root of the
    /// server, without query, fragment and origin, since an absolute URL may have user info.
    ///
    /// - Parameter basePath: the path of the base URL. An absolute URL contains it.
    package func conventionalTemplate(below basePath: String) -> String {
        let isPlain = utf8.first == 0x2F && utf8.allSatisfy { $0 != 0x3F && $0 != 0x23 }
        guard !isPlain else { return basePath.isEmpty ? self : basePath + self }
        var rest = utf8.prefix { $0 != 0x3F && $0 != 0x23 }
        var base = basePath
        let start = String(decoding: rest.prefix(8), as: UTF8.self).lowercased().utf8
        if start.starts(with: "http://".utf8) || start.elementsEqual("https://".utf8) {
            rest = rest.drop { $0 != 0x3A }.dropFirst(3).drop { $0 != 0x2F }
            base = ""
        }
        if rest.isEmpty { return base.isEmpty ? "/" : base }
        return base + (rest.first == 0x2F ? "" : "/") + Substring(rest)
    }
}
