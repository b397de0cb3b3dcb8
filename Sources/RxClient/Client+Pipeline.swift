import HTTPTypes
import RxCache
public import RxHTTP
public import RxLite

extension Client {
    /// The typed result of an endpoint: one value, then the end.
    ///
    /// This is the order of one request. Each stage is an operator that can as well be chained by hand: on
    /// ``response(_:)``, or from the first stage on, with ``serialized(_:)``, ``Session/authorize(_:)`` and
    /// ``exchange(_:following:usesCookies:)``.
    public func request<E: Endpoint>(_ endpoint: E) -> Observable<E.Output, NetworkError> {
        answer(endpoint, as: { $0.output })
    }

    /// The same, with the response next to the output.
    public func answer<E: Endpoint>(_ endpoint: E) -> Observable<Answer<E.Output>, NetworkError> {
        answer(endpoint, as: { $0 })
    }

    /// The same for one page of an endpoint that has several.
    ///
    /// - Parameters:
    ///   - stages: what each attempt goes through.
    ///   - watch: sees the events of each exchange go by; such a request joins no other.
    ///   - isRefresh: whether it renews what the cache keeps, and nobody waits for it.
    ///   - result: what the subscriber gets of the answer.
    func answer<E: Endpoint, T>(
        _ endpoint: E, page: PagePlacement? = nil, through stages: AttemptStages = .all,
        watching watch: Watch? = nil, isRefresh: Bool = false,
        as result: @escaping @Sendable (Answer<E.Output>) -> T
    ) -> Observable<T, NetworkError> {
        drafted(endpoint, page: page, isShown: !isRefresh) { draft throws(NetworkError) in
            let attempts = try self.attempts(of: draft, retrying: draft.options.retry)
            let session = self.session(for: draft)
            let opening = self.opening(for: E.kindOfOutput, draft)
            let cached = try self.cached(
                attempts, draft, isRefresh ? .noCache : draft.options.cacheMode ?? .standard)

            @Sendable func ask(_ kept: CacheEntry?) -> CachedRequest.Responses {
                self.send(
                    attempts, session: session, cookies: self.cookies(for: draft), through: stages,
                    opening, watch, cached, confirming: kept
                )
                .opened(by: opening)
                .relogin(through: session, replay: attempts.replay, trace: attempts.trace)
                .retry(attempts.policy)
            }
            @Sendable func refresh() -> CachedRequest.Responses {
                self.answer(endpoint, page: page, isRefresh: true) { $0.response }
            }

            return self.answer(
                cached, joining: { watch == nil ? ClientStages(of: endpoint, in: self, draft) : nil },
                session, attempts.trace, opening: opening, asking: ask, refreshing: refresh
            )
            .deadline(of: attempts)
            .fallingBack(on: cached, trace: attempts.trace, opening: opening)
            .part(draft.options.part ?? "")
            .process { response throws(NetworkError) in
                if !response.isFromCache { session?.noteSuccess(of: response.request.credentialVersion) }
                let answer = try endpoint.answer(from: response)
                cached?.keep(answer.response)
                return result(answer)
            }
            .traced(by: attempts.trace)
        }
    }

    /// The bare exchange of an endpoint, for stages chained by hand: parameters, credential, transport with redirects.
    /// A response with an error status fails with `status`.
    ///
    /// Each subscription is a separate request: a `retry` chained to it sends a new one each time, with a new id, total
    /// timeout and the current account. ``request(_:)`` is one request, regardless of its attempts.
    ///
    /// ```swift
    /// client.response(GoodsList(keyword: "tea"))
    ///     .unwrap(.init(code: "errcode", message: "msg", payload: "data", success: 200))
    ///     .relogin(through: session)
    ///     .retry(.exponentialBackoff(maxRetries: 2))
    ///     .decode([Goods].self)
    /// ```
    ///
    /// - Parameter server: the server to use. Default `nil`: that of the endpoint.
    public func response<E: Endpoint>(
        _ endpoint: E, from server: ServerChoice? = nil
    ) -> Observable<Response, NetworkError> {
        drafted(endpoint, at: server) { draft throws(NetworkError) in
            let session = self.session(for: draft)
            let attempts = try self.attempts(of: draft, retrying: .never)
            let opening = self.opening(for: E.kindOfOutput, draft)
            return self.send(
                attempts, session: session, cookies: self.cookies(for: draft), through: [], opening
            )
            .checkStatus(envelope: opening.envelope)
            .deadline(of: attempts)
            .traced(by: attempts.trace)
        }
    }

    /// One attempt at each subscription, of which the stages see whether the status is a success.
    ///
    /// - Parameter kept: what the server may confirm instead of sending it anew.
    private func send(
        _ attempts: Attempts, session: Session?, cookies: CookieJar?, through stages: AttemptStages,
        _ opening: Opening, _ watch: Watch? = nil, _ cached: CachedRequest? = nil,
        confirming kept: CacheEntry? = nil
    ) -> Observable<Response, NetworkError> {
        @Sendable func send(
            preparing prepare: @escaping @Sendable (inout Request) -> Void
        ) -> Observable<Response, NetworkError> {
            self.send(attempts, session: session, cookies: cookies, through: stages, preparing: prepare) {
                events, request in
                let responses = (watch?(events) ?? events)
                    .response(to: request, decoder: self.configuration.decoder)
                // Others look at the status only after the attempt.
                return self.isStaged(stages, attempts.draft)
                    ? responses.checkStatus(envelope: opening.envelope, accepting: [304]) : responses
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
            of: draft, retrying: policy ?? .exponentialBackoff(), tracing: self.trace(of:))
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
        let scheduler = scheduler
        return .deferred(on: scheduler) { () throws(NetworkError) in
            let draft = try Draft(endpoint, of: self, on: scheduler, at: server, page: page)
            return .deferred(on: scheduler) { () throws(NetworkError) in try stages(draft) }
                .checkReachability(by: self.configuration.reachability, of: draft.request)
                .attended(
                    as: draft.request, tags: draft.options.tags, in: self, isWhole: isWhole,
                    isShown ? draft.options.presentation ?? .all : .hidden)
        }
    }

    /// The session whose credential the endpoint's requests carry, if they may carry any.
    func session(for draft: Draft) -> Session? {
        draft.options.usesSession != false && draft.carriesCredentials ? configuration.session : nil
    }

    func cookies(for draft: Draft) -> CookieJar? {
        draft.options.usesCookies != false ? configuration.cookies : nil
    }

    func envelope(of draft: Draft) -> Envelope? {
        draft.options.envelope.flatMap { $0.isAbsent ? nil : $0 }
    }
}
