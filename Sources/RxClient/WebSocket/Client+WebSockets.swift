import HTTPTypes
public import RxHTTP
public import RxLite
public import RxParameters

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
    /// ``NetworkError/Code/webSocketClosed`` for any other code, with ``NetworkError/Code/webSocketProtocol``
    /// if the server breaks the protocol or a limit, with ``NetworkError/Code/connectionLost`` if the
    /// connection ends without a close frame, with ``NetworkError/Code/idleTimeout`` if the server does not
    /// answer a ping, with ``NetworkError/Code/status`` if the server refuses the request, with
    /// ``NetworkError/Code/invalidResponse`` if the handshake response is invalid, and with
    /// ``NetworkError/Code/invalidHeader`` if a subprotocol is; see ``NetworkError/closeCode``. With
    /// ``WebSocketSettings/reconnection`` it connects again instead of most of these ends. It belongs to the account at
    /// its start: when that is gone, it closes the connection and fails with ``NetworkError/Code/loginExpired``.
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
        return call(.webSocket, endpoint, CallSettings(account: account, reader: reader)) { event, _ in
            if case .output(let output) = event { output as? WebSocketEvent } else { nil }
        }
    }
}
