import HTTPTypes
public import RxHTTP
public import RxLite

extension Client {
    /// The typed result of an endpoint: one value, then the end.
    ///
    /// This is the order of one request. Each stage is an operator that can as well be chained by hand: on
    /// ``response(_:)``, or from the first stage on, with ``serialized(_:)``, ``Session/authorize(_:)`` and
    /// ``exchange(_:following:usesCookies:)``.
    public func request<E: Endpoint>(_ endpoint: E) -> Observable<E.Output, NetworkError> {
        answer(endpoint).map(\.output)
    }

    /// The same, with the response next to the output.
    public func answer<E: Endpoint>(_ endpoint: E) -> Observable<Answer<E.Output>, NetworkError> {
        answer(endpoint, page: nil)
    }

    /// The same for one page of an endpoint that has several.
    ///
    /// - Parameters:
    ///   - stages: what each attempt goes through.
    ///   - watch: sees the events of each exchange go by; such a request joins no other.
    ///   - isRefresh: whether it renews what the cache keeps, and nobody waits for it.
    func answer<E: Endpoint>(
        _ endpoint: E, page: PagePlacement?, through stages: AttemptStages = .all,
        watching watch: Watch? = nil, isRefresh: Bool = false
    ) -> Observable<Answer<E.Output>, NetworkError> {
        drafted(endpoint, page: page, isShown: !isRefresh) { draft throws(NetworkError) in
            let attempts = try self.attempts(of: draft, retrying: endpoint.retry)
            let session = endpoint.usesSession ? self.configuration.session : nil
            let envelope = self.envelope(of: endpoint)
            let cached = try self.cached(
                attempts, draft, of: endpoint, isRefresh ? .noCache : endpoint.cacheMode)
            let contentTypes = endpoint.contentTypes ?? self.configuration.contentTypes
            let open = { @Sendable (responses: CachedRequest.Responses) in
                responses.checkStatus(envelope: envelope).checkContentType(contentTypes).unwrap(envelope)
            }

            return self.answer(
                cached, joining: watch == nil ? [ObjectIdentifier(self), ObjectIdentifier(E.self)] : nil,
                session, attempts.trace, opening: open
            ) { kept in
                self.send(
                    attempts, session: session, cookies: self.cookies(for: endpoint), through: stages,
                    envelope, watch, cached, confirming: kept
                )
                .checkStatus(envelope: envelope)
                .invalidating(self.configuration.cache, attempts.request, unless: cached)
                .checkContentType(contentTypes)
                .unwrap(envelope)
                .relogin(through: session, replay: attempts.replay, trace: attempts.trace)
                .retry(attempts.policy)
            } refreshing: {
                self.answer(endpoint, page: page, isRefresh: true).map(\.response)
            }
            .deadline(of: attempts)
            .fallingBack(on: cached, trace: attempts.trace, opening: open)
            .part(endpoint.part)
            .process { response throws(NetworkError) in
                try endpoint.answer(from: response)
            }
            .keeping(in: cached)
            .traced(by: attempts.trace)
        }
    }

    /// The bare exchange of an endpoint, for stages chained by hand: parameters, credential, transport with
    /// redirects. An answer whose status is no success fails with `status`.
    ///
    /// Each subscription is a request of its own: a `retry` chained to it sends a new one each time, with an
    /// id, a total timeout and the account of that moment. ``request(_:)`` is one request, however many
    /// attempts it takes.
    ///
    /// ```swift
    /// client.response(GoodsList(keyword: "tea"))
    ///     .retry(.exponentialBackoff(maxRetries: 2))
    ///     .unwrap(.init(code: "errcode", message: "msg", payload: "data", success: 200))
    ///     .relogin(through: session)
    ///     .decode([Goods].self)
    /// ```
    ///
    /// - Parameter server: which of the service's servers is asked. Default `nil`: as the endpoint wants.
    public func response(
        _ endpoint: some Endpoint, from server: ServerChoice? = nil
    ) -> Observable<Response, NetworkError> {
        drafted(endpoint, at: server) { draft throws(NetworkError) in
            let session = endpoint.usesSession ? self.configuration.session : nil
            let attempts = try self.attempts(of: draft, retrying: .never)
            let envelope = self.envelope(of: endpoint)
            return self.send(
                attempts, session: session, cookies: self.cookies(for: endpoint), through: [], envelope
            )
            .checkStatus(envelope: envelope)
            .deadline(of: attempts)
            .traced(by: attempts.trace)
        }
    }

    /// One attempt at each subscription, of which the stages see whether the status is a success.
    ///
    /// - Parameter kept: what the server may confirm instead of sending it anew.
    private func send(
        _ attempts: Attempts, session: Session?, cookies: CookieJar?, through stages: AttemptStages,
        _ envelope: Envelope?, _ watch: Watch? = nil, _ cached: CachedRequest? = nil,
        confirming kept: CacheEntry? = nil
    ) -> Observable<Response, NetworkError> {
        let send = { @Sendable (prepare: @escaping @Sendable (inout Request) -> Void) in
            self.send(attempts, session: session, cookies: cookies, through: stages, preparing: prepare) {
                events, request in
                let responses = (watch?(events) ?? events)
                    .response(to: request, decoder: self.configuration.decoder)
                return stages.isEmpty
                    ? responses : responses.checkStatus(envelope: envelope, accepting: [304])
            }
        }
        return cached?.confirm(kept, trace: attempts.trace, send) ?? send { _ in }
    }
    /// The attempts at a request, told to those who listen by now.
    ///
    /// - Parameter policy: when to try again; `nil` for the client's policy.
    func attempts(
        of draft: Draft, retrying policy: RetryPolicy<NetworkError>?
    ) throws(NetworkError) -> Attempts {
        try Attempts(
            of: draft, retrying: policy ?? configuration.retry, on: scheduler,
            tracing: self.trace(of:))
    }

    /// Makes the request anew for each subscription; what cannot be made fails before anything is sent.
    ///
    /// - Parameters:
    ///   - isWhole: whether one value is the whole result.
    ///   - isShown: whether a person is shown of it what the endpoint says.
    func drafted<T>(
        _ endpoint: some Endpoint, at server: ServerChoice? = nil, page: PagePlacement? = nil,
        isWhole: Bool = true, isShown: Bool = true,
        then stages: @escaping @Sendable (Draft) throws(NetworkError) -> Observable<T, NetworkError>
    ) -> Observable<T, NetworkError> {
        Observable(scheduler: scheduler) { [configuration] observer in
            Observable<T, NetworkError>.deferred { () throws(NetworkError) in
                let draft = try Draft(
                    endpoint, configuration: configuration, servers: self.servers.pair, at: server,
                    page: page)
                return Observable.deferred { () throws(NetworkError) in try stages(draft) }
                    .checkReachability(by: configuration.reachability, of: draft.request)
                    .attended(
                        as: draft.request, of: endpoint, in: self, isWhole: isWhole,
                        isShown ? endpoint.presentation : .none)
            }
            .subscribe(observer)
        }
    }

    func cookies(for endpoint: some Endpoint) -> CookieJar? {
        endpoint.usesCookies ? configuration.cookies : nil
    }

    func envelope(of endpoint: some Endpoint) -> Envelope? {
        switch endpoint.envelope {
        case .client: configuration.envelope
        case .none: nil
        case .custom(let envelope): envelope
        }
    }
}
