public import Logging

/// The content and levels of a log of a client's traffic.
///
/// By default a request is one line when it begins and one for each exchange (`debug`), one for each redirect, login
/// and retry with its reason (`debug`, `notice`, `notice`), and one at its end, with status, bytes and duration
/// (`info`; `warning` when it failed; `debug` when it was cancelled). All of them have its id in their metadata, as
/// `request-id`. All output goes through the request's ``Redaction``; messages of the server, whose content is
/// unknown, are shown only with the bodies.
public struct TrafficLog: Sendable {
    /// The beginning of a request. Default `debug`.
    public var startLevel = Logger.Level.debug
    /// The beginning of an exchange, and a redirect that is followed. Default `debug`.
    public var exchangeLevel = Logger.Level.debug
    /// A login that a request asks for, and a retry. Default `notice`.
    public var retryLevel = Logger.Level.notice
    /// A request that succeeded. Default `info`.
    public var successLevel = Logger.Level.info
    /// A request that failed. Default `warning`.
    public var failureLevel = Logger.Level.warning
    /// A request that was cancelled. Default `debug`.
    public var cancelLevel = Logger.Level.debug

    /// Whether header fields are shown, in the metadata of the exchange. Default no.
    public var showsHeaders = false
    /// The most bytes shown of each body. Default 0: bodies are not shown.
    public var bodyLimit = 0
    /// Header fields and bodies. Default `trace`.
    public var contentLevel = Logger.Level.trace

    /// The defaults.
    public init() {}
}
