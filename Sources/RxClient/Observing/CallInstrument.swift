package import RxHTTP
package import RxLite

/// Watches the calls of a client: the base of metrics and tracing.
///
/// It costs a call less than a subscriber of ``Client/traffic``: events are passed on as they are, without a copy of
/// the request, a time and a place in a stream. See `Docs/Decisions/Instruments.md`.
package protocol CallInstrument: AnyObject, Sendable {
    /// Whether the start and the end of calls matter, besides those of exchanges and what happens in between.
    var watchesCalls: Bool { get }

    /// No more calls are recorded, but those that have begun.
    func stop()

    /// Makes the record of a call that is about to begin.
    func record(of call: RecordedCall) -> any CallRecord
}

/// A call as an instrument sees it.
package struct RecordedCall: Sendable {
    /// The kind of the call.
    package let kind: CallKind
    /// The request before its attempts.
    package let request: Request
    /// The endpoint's path, with its placeholders; `nil` for a request without an endpoint.
    package let pathTemplate: String?
    /// The path of the main server's base URL, such as `/v1`; empty if it has none.
    package let basePath: String
    /// Whether the call loads a page of a list.
    package let isPage: Bool
    /// The scheduler of the call, whose clock times it.
    package let scheduler: any Scheduler
}

/// Where an exchange goes.
package struct ExchangeDestination: Sendable {
    package let origin: Origin?
    /// The path of the base URL of the server; `nil` for a redirect that leads to neither.
    package let basePath: String?
    /// The circuit breaker of the host, if there is one; `nil` for a redirect that leads to another host.
    package let breaker: CircuitBreaker?
}

/// An instrument's record of one call. Called on the call's scheduler, or where the subscriber cancels: calls
/// that wait for the same response share the exchanges of the first one, which may end before them.
package protocol CallRecord: AnyObject, Sendable {
    /// The call begins, in this lane. Not called unless ``CallInstrument/watchesCalls``.
    func begin(in lane: Lane)

    /// The call makes its output.
    func noteOutput()

    /// Something happens between exchanges: a login, a retry, a wait, a use of the cache. May come from several attempts
    /// at a time.
    func take(_ event: TrafficEvent.Kind)

    /// An exchange begins. It sends `request`, which the record may change.
    func exchange(_ request: inout Request, to destination: ExchangeDestination) -> any ExchangeRecord

    /// The call has ended. Not called unless ``CallInstrument/watchesCalls``.
    func end(_ outcome: TrafficEvent.Summary.Outcome)
}

/// An instrument's record of one exchange. Called in the call's lane.
package protocol ExchangeRecord: AnyObject, Sendable {
    /// An event of the exchange. `finished` is the last one, and the exchange has ended with it.
    func take(_ event: TransferEvent)

    /// The server has switched protocols, and the client agrees: the handshake has succeeded.
    func noteUpgrade()

    /// The exchange has ended without `finished`: it failed, or was abandoned if there is no error. An exchange that is
    /// abandoned because the call fails, by a time limit for example, ends with the error of the call.
    func end(_ error: NetworkError?)
}
