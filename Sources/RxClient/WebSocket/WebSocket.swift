public import FoundationEssentials
import HTTPTypes
public import RxHTTP
public import RxLite
public import RxParameters
public import RxWebSocket
import Synchronization

extension Client {
    /// A WebSocket (RFC 6455): a stream that connects when it is subscribed to, and closes when it is cancelled.
    ///
    /// ```swift
    /// for try await text in client.webSocket("/live").texts() { print(text) }
    /// ```
    ///
    /// The connection is opened by a request that goes through the pipeline like any other: base URL, credential,
    /// relogin, cookies, proxies, TLS, interceptors, timeouts. No timeout applies to the open connection. The
    /// retry policy and the limits of requests do not apply. While a subscriber is paused, pings are answered, and
    /// messages wait, up to 1 MiB; then the client stops reading, which pauses the server. Handshakes to one host and
    /// port follow one another (RFC 6455 §4.1).
    ///
    /// The stream finishes when the server closes with 1000 or 1001, or without a code. It fails with
    /// ``NetworkError/Code/webSocketClosed`` for any other code, with ``NetworkError/Code/webSocketProtocol`` if the
    /// server breaks the protocol or a limit, with ``NetworkError/Code/connectionLost`` if the connection ends without
    /// a close frame, with ``NetworkError/Code/idleTimeout`` if the server does not answer a ping, with
    /// ``NetworkError/Code/status`` if the server refuses the request, with ``NetworkError/Code/invalidResponse`` if
    /// the handshake response is invalid, and with ``NetworkError/Code/invalidHeader`` if a subprotocol is; see
    /// ``NetworkError/closeCode``. With ``WebSocketSettings/reconnection`` it connects again instead of most of these
    /// ends. It belongs to the account that is logged in when it starts: once that account is logged out, it closes the
    /// connection and fails with ``NetworkError/Code/loginExpired``.
    ///
    /// - Parameters:
    ///   - path: the path below the client's base URL, or an absolute URL of the same origin, also with the
    ///     scheme `ws` or `wss`.
    ///   - pathValues: the values of the path's placeholders.
    ///   - query: parameters for the query.
    ///   - headers: header fields, which replace those of `options` and of the client.
    ///   - options: the options of the request. Default: the client's options.
    ///   - sink: sends the messages of this side. Default none: the stream only receives.
    ///   - settings: subprotocols, compression, limits, pings, reconnection.
    public func webSocket(
        _ path: String, at pathValues: PathValues = [:], query: Parameters.Values = [:],
        headers: Headers = [:], options: RequestOptions = RequestOptions(),
        sending sink: WebSocketSink? = nil,
        settings: WebSocketSettings = WebSocketSettings()
    ) -> Observable<WebSocketEvent, NetworkError> {
        webSocket(
            InlineEndpoint(
                .get, path.withHTTPScheme, at: pathValues, query: query, headers: headers, options: options),
            sending: sink, settings: settings)
    }

    /// A WebSocket of an endpoint; see ``webSocket(_:at:query:headers:options:sending:settings:)``.
    ///
    /// - Parameters:
    ///   - endpoint: the endpoint that opens the WebSocket, with the method GET.
    ///   - sink: sends the messages of this side. Default none: the stream only receives.
    ///   - settings: subprotocols, compression, limits, pings, reconnection.
    public func webSocket(
        _ endpoint: some Endpoint, sending sink: WebSocketSink? = nil,
        settings: WebSocketSettings = WebSocketSettings()
    ) -> Observable<WebSocketEvent, NetworkError> {
        Observable(scheduler: scheduler) { [scheduler] observer in
            let account = self.account(in: observer.scope.lane)
            let owner = self.account(account, of: endpoint)
            let outlet = sink?.outbox.take(for: owner)
            if sink != nil, outlet == nil {
                let error = NetworkError(
                    .invalidConfiguration, "the sink already sends on another WebSocket")
                return observer.scope.perform { observer.fail(error) }
            }
            let events = self.connections(endpoint, settings, outlet, account, on: scheduler)
                .ending(with: owner)
            guard let outlet else { return events.subscribe(observer) }
            let scope = observer.scope.child()
            scope.onClose { outlet.release() }
            events.take(until: outlet.stop.observable.setFailureType(to: NetworkError.self))
                .subscribe(
                    // Values go straight to the subscriber.
                    Observer(scope: scope, as: observer) { completion in
                        if case .failed(let error) = completion, error.code == .loginExpired {
                            outlet.release(because: error)
                        }
                        // Before the end is passed on, so that the subscriber can use the sink again there.
                        scope.close()
                        observer.end(completion)
                    })
        }
    }

    /// One connection, or as many as the settings say.
    private func connections(
        _ endpoint: some Endpoint, _ settings: WebSocketSettings, _ outlet: WebSocketOutlet?,
        _ account: SessionAccount?, on scheduler: any Scheduler
    ) -> Observable<WebSocketEvent, NetworkError> {
        let reconnection = settings.reconnection
        guard let backoff = reconnection.backoff else {
            outlet?.show(.connecting)
            return connection(endpoint, settings, outlet, account, isFirst: true)
        }
        return WebSocketSource(reconnection, backoff, outlet, on: scheduler) { isFirst in
            self.connection(endpoint, settings, outlet, account, isFirst: isFirst)
        }
        .events
    }

    /// One connection.
    private func connection(
        _ endpoint: some Endpoint, _ settings: WebSocketSettings, _ outlet: WebSocketOutlet?,
        _ account: SessionAccount?, isFirst: Bool
    ) -> Observable<WebSocketEvent, NetworkError> {
        let reader = WebSocketReading(
            settings, outlet,
            resumption: isFirst ? nil : settings.reconnection.resumption)
        let overrides = CallOverrides(account: account, reader: reader)
        return call(.webSocket, endpoint, overrides) { event, call throws(NetworkError) in
            try call.output(in: event)
        }
    }
}

/// An event of a WebSocket.
public enum WebSocketEvent: Sendable {
    // Indirect where it is rare and large, so that a message is small enough to be passed without allocation.

    /// The handshake has succeeded, on the first connection or a later one.
    ///
    /// `subprotocol` is the server's choice, `nil` for none; `isCompressed` tells whether messages are compressed
    /// (RFC 7692).
    indirect case opened(ResponseHead, subprotocol: String?, isCompressed: Bool)
    /// A text message.
    case text(String)
    /// A binary message.
    case binary([UInt8])
    /// A ping of the server; it has been answered. Pings and pongs may be omitted while many events wait for a paused
    /// subscriber.
    case ping([UInt8])
    /// A pong of the server.
    case pong([UInt8])
    /// The server has sent a close frame, which the client has answered. No message follows on this
    /// connection. The code is ``WebSocketCloseCode/noStatus`` if the frame has none.
    case closing(WebSocketCloseCode, reason: String)
    /// The connection has ended, or could not be opened; the next one follows after this delay. `because` is
    /// `nil` if the server closed it normally.
    indirect case reconnecting(after: Duration, because: NetworkError?)
}

extension Observable where Element == WebSocketEvent {
    /// Only the messages, texts and bytes.
    public func messages() -> Observable<WebSocketMessage, Failure> {
        compactMap { event in
            switch event {
            case .text(let text): .text(text)
            case .binary(let bytes): .binary(bytes)
            default: nil
            }
        }
    }

    /// Only the texts.
    public func texts() -> Observable<String, Failure> {
        compactMap { event in if case .text(let text) = event { text } else { nil } }
    }
}

extension Observable where Element == WebSocketEvent, Failure == NetworkError {
    /// The messages, decoded from JSON; both texts and bytes are accepted.
    ///
    /// ```swift
    /// for try await price in client.webSocket("/prices").messages(of: Price.self) { show(price) }
    /// ```
    ///
    /// A message that cannot be decoded fails with ``NetworkError/Code/decoding``: the error holds the coding
    /// path, and the message as its body. To skip such messages instead, decode with `compactMap`.
    ///
    /// - Parameters:
    ///   - type: the type of the messages.
    ///   - decoder: the decoder. Default `nil`: the decoder of the client.
    public func messages<T: Decodable & Sendable>(
        of type: T.Type = T.self, decoder: JSONDecoder? = nil
    ) -> Observable<T, NetworkError> {
        let clientDecoder = Mutex<JSONDecoder?>(decoder)
        @Sendable func decode(_ bytes: [UInt8]) throws(NetworkError) -> T {
            let decoder = clientDecoder.withLock { $0 } ?? JSONDecoder()
            return try decoder.decode(T.self, named: "the message", bytes)
        }
        return compactMap { event throws(NetworkError) -> T? in
            switch event {
            case .opened(let head, _, _):
                // ``WebSocketConnection`` sets it, from the client's configuration.
                if let found = head.decoder { clientDecoder.withLock { $0 = $0 ?? found } }
                return nil
            case .text(let text): return try decode(Array(text.utf8))
            case .binary(let bytes): return try decode(bytes)
            case .ping, .pong, .closing, .reconnecting: return nil
            }
        }
    }
}

/// How a WebSocket is opened, kept and closed.
public struct WebSocketSettings: Sendable {
    /// The subprotocols to offer, in the order of preference (`Sec-WebSocket-Protocol`). Default none.
    public var subprotocols: [String] = []
    /// The compression to offer. Default: `permessage-deflate` with its default parameters.
    public var compression = WebSocketCompression.permessageDeflate
    /// The maximum size of a received message, in bytes after decompression. A server that exceeds this or the
    /// following limits is sent close code 1009. A negative limit counts as 0. Default 16 MiB.
    public var messageLimit = 16 << 20
    /// The maximum payload of one received frame, in bytes as received. Default `nil`: ``messageLimit``.
    public var frameLimit: Int?
    /// The maximum ratio of decompressed to received bytes of one message. Default 100.
    public var expansionLimit = 100
    /// The number of decompressed bytes up to which that ratio is ignored. Default 1 MiB.
    public var expansionFloor = 1 << 20
    /// The maximum payload of a sent frame, in bytes; larger messages are sent in fragments. Default `nil`:
    /// each message is one frame.
    public var frameSize: Int?
    /// How often the client checks for silence; if nothing has arrived since the previous check, it sends a
    /// ping. Default 30 s, so a ping follows 30 to 60 s of silence. `nil` disables pings; a dead connection
    /// is then not detected.
    public var pingInterval: Duration? = .seconds(30)
    /// How long the server may stay silent after a ping, before the connection fails with
    /// ``NetworkError/Code/idleTimeout``. Default 20 s.
    public var pongTimeout = Duration.seconds(20)
    /// The time that the server has to answer a close frame and to close the connection. Afterwards the
    /// client closes it. Default 5 s.
    public var closeTimeout = Duration.seconds(5)
    /// When to connect again after a connection has ended. Default ``WebSocketSettings/Reconnection/never``.
    public var reconnection = WebSocketSettings.Reconnection.never

    /// Creates settings with the defaults.
    public init() {}

    var limits: WebSocketLimits {
        WebSocketLimits(
            frameBytes: frameLimit, messageBytes: messageLimit, expansion: expansionLimit,
            expansionFloor: expansionFloor)
    }
}

// MARK: - One connection

/// Makes a WebSocket of the exchange: one connection.
final class WebSocketReading: Interceptor {
    let settings: WebSocketSettings
    let outlet: WebSocketOutlet?
    /// The messages to send before those of the outbox.
    let resumption: (@Sendable (ResponseHead) -> [WebSocketMessage])?

    init(
        _ settings: WebSocketSettings, _ outlet: WebSocketOutlet?,
        resumption: (@Sendable (ResponseHead) -> [WebSocketMessage])?
    ) {
        self.settings = settings
        self.outlet = outlet
        self.resumption = resumption
    }

    func intercept(
        _ request: Request, in call: CallContext, _ next: Next
    ) -> Observable<CallEvent, NetworkError> {
        Observable(scheduler: call.scheduler) { [self] observer in
            guard observer.scope.isOpen else { return }
            guard request.method == .get else {
                let message = "a WebSocket is opened by GET, not by \(request.method.rawValue)"
                let failure = NetworkError(.invalidConfiguration, message, request: request)
                return observer.scope.perform { observer.fail(failure) }
            }
            var random = RandomSource()
            let handshake: WebSocketHandshake
            do throws(WebSocketHandshakeError) {
                handshake = try WebSocketHandshake(
                    subprotocols: settings.subprotocols, compression: settings.compression, using: &random)
            } catch {
                let failure = NetworkError(.invalidHeader, "\(error)", request: request)
                return observer.scope.perform { observer.fail(failure) }
            }
            WebSocketConnection(self, in: call, into: observer).start(request, handshake, next)
        }
    }
}
