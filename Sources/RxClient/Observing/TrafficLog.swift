#if Logging
public import Logging

/// The content and levels of a log of a client's traffic.
///
/// By default a request writes one line when it begins and one for each exchange (`debug`), one for each
/// redirect, login and retry with its reason (`debug`, `notice`, `notice`), and one at its end, with status,
/// bytes and duration (`info`; `warning` for a failure; `debug` for a cancellation). The metadata of each
/// line has the request's id, as `request-id`. All output passes through the request's ``Redaction``;
/// messages of the server, whose content is unknown, are shown only together with bodies.
public struct TrafficLog: Sendable {
    /// The level for the start of a request. Default `debug`.
    public var startLevel = Logger.Level.debug
    /// The level for the start of an exchange, and for a followed redirect. Default `debug`.
    public var exchangeLevel = Logger.Level.debug
    /// The level for a login that a request needs, and for a retry. Default `notice`.
    public var retryLevel = Logger.Level.notice
    /// The level for a successful request. Default `info`.
    public var successLevel = Logger.Level.info
    /// The level for a failed request. Default `warning`.
    public var failureLevel = Logger.Level.warning
    /// The level for a cancelled request. Default `debug`.
    public var cancelLevel = Logger.Level.debug

    /// Whether header fields are shown, in the metadata of the exchange. Default false.
    public var showsHeaders = false
    /// The maximum number of bytes shown of each body. Default 0: bodies are not shown.
    public var bodyLimit = 0
    /// The level for header fields and bodies. Default `trace`.
    public var contentLevel = Logger.Level.trace

    /// Creates a log with the default content and levels.
    public init() {}
}
#endif
