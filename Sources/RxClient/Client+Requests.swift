import HTTPTypes
public import RxHTTP
public import RxLite

extension Client {
    /// The typed result of an endpoint: one value, then completion.
    ///
    /// The call goes through all stages of the pipeline (``pipeline(for:as:)``). Most stages also exist as
    /// operators to chain by hand: after ``response(_:from:)``, or from the first stage on with
    /// ``serialized(_:)``, ``Session/authorize(_:)`` and ``exchange(_:following:usesCookies:)``.
    public func request<E: Endpoint>(_ endpoint: E) -> Observable<E.Output, NetworkError> {
        typed(endpoint) { $0.output }
    }

    /// The same, with the response beside the output.
    public func typedResponse<E: Endpoint>(_ endpoint: E) -> Observable<TypedResponse<E.Output>, NetworkError>
    {
        typed(endpoint) { $0 }
    }

    /// The progress of a call in both directions, followed by its typed result. The call goes through the
    /// same stages as ``request(_:)``.
    ///
    /// ```swift
    /// client.progress(of: .put("/photo", .file(path))).subscribe(onNext: { event in
    ///     switch event {
    ///     case .uploaded(let progress): bar.show(progress.fraction)
    ///     case .downloaded: break
    ///     case .finished(let result): show(result.response.status)
    ///     }
    /// })
    /// ```
    ///
    /// Each direction reports at most 20 values per second, and always the last one. A repeated attempt,
    /// after a failure or a new login, counts from zero again.
    public func progress<E: Endpoint>(of endpoint: E) -> Observable<ProgressEvent<E.Output>, NetworkError> {
        Observable(scheduler: scheduler) { observer in
            let reading = ProgressReading { upload in
                if observer.scope.isOpen { observer.next(.uploaded(upload)) }
            } download: { download in
                if observer.scope.isOpen { observer.next(.downloaded(download)) }
            }
            self.typed(endpoint, .progress, CallSettings(reader: reading)) { .finished($0) }
                .subscribe(observer)
        }
    }

    /// The response of an endpoint as it arrives, for bodies that are too large or too slow to wait for.
    ///
    /// Chain an operator for the body: `chunks()`, `lines()`, `jsonLines(_:)`, `serverSentEvents()` or
    /// `file(at:in:)`. A subscriber whose buffer is full pauses the transfer (backpressure).
    ///
    /// ```swift
    /// client.stream(.get("/goods.jsonl")).jsonLines(Goods.self)
    ///     .subscribe(onNext: { goods in show(goods) }, onFailure: { error in show(error.message) })
    /// ```
    ///
    /// Until the response begins, the call behaves like ``request(_:)``: credential, retries, relogin; an
    /// unsuccessful status fails with `status`. Later failures are final, because part of the response has
    /// been delivered. The endpoint's envelope, content types, part, validator and output do not apply.
    /// ``Timeouts/attempt`` and ``Timeouts/total`` include the body.
    public func stream(_ endpoint: some Endpoint) -> Observable<TransferEvent, NetworkError> {
        transferEvents(of: endpoint, CallSettings())
    }

    func transferEvents(
        of endpoint: some Endpoint, _ settings: CallSettings
    ) -> Observable<TransferEvent, NetworkError> {
        call(.stream, endpoint, settings) { event, _ in
            if case .transfer(let event) = event { event } else { nil }
        }
    }

    /// The bare response of an endpoint, for stages chained by hand: parameters, credential and transport,
    /// with redirects. A response with an error status fails with `status`.
    ///
    /// Each subscription is a separate call: a chained `retry` sends a new request each time, with a new id,
    /// a new total timeout and the account of that moment. ``request(_:)`` is one call, regardless of its
    /// attempts.
    ///
    /// ```swift
    /// client.response(GoodsList(keyword: "tea"))
    ///     .unwrap(.init(code: "errcode", message: "msg", payload: "data", success: 200))
    ///     .relogin(through: session)
    ///     .retry(.exponentialBackoff(maxRetries: 2))
    ///     .decode([Goods].self)
    /// ```
    ///
    /// - Parameter server: the server to use. Default `nil`: the endpoint's server.
    public func response<E: Endpoint>(
        _ endpoint: E, from server: ServerChoice? = nil
    ) -> Observable<Response, NetworkError> {
        call(.response, endpoint, CallSettings(server: server)) { event, _ in
            if case .response(let response) = event { response } else { nil }
        }
    }

    /// One exchange of a handmade request, unchanged: with the jar's cookies and redirects, but without
    /// credential, retries or status check. It delivers the events of any response as they arrive;
    /// `response(to:)` gathers them.
    ///
    /// ```swift
    /// let request = Request(method: .put, url: url, body: .bytes(image))
    /// client.exchange(request, following: .manual).response(to: request)
    /// ```
    ///
    /// The configuration's header fields, timeouts and limits do not apply, and ``Timeouts/total`` has no
    /// effect. Of the configuration's interceptors, those around exchanges apply.
    ///
    /// - Parameters:
    ///   - request: the request to send.
    ///   - redirects: the redirects to follow. Default: the client's policy.
    ///   - usesCookies: whether the exchange uses the cookie jar, if there is one. Default true.
    public func exchange(
        _ request: Request, following redirects: RedirectPolicy? = nil, usesCookies: Bool = true
    ) -> Observable<TransferEvent, NetworkError> {
        let scheduler = scheduler
        return Observable(scheduler: scheduler) { observer in
            guard observer.scope.isOpen else { return }
            guard self.running.insertHandmade() else {
                return observer.scope.perform { observer.fail(.shutDown(request)) }
            }
            observer.scope.onClose { self.running.removeHandmade() }
            let settings = CallSettings(redirects: redirects, usesCookies: usesCookies)
            let call = CallContext(request, of: self, on: scheduler, settings)
            CallRun(call, into: observer) { event, _ in
                if case .transfer(let event) = event { event } else { nil }
            }
            .begin(request)
        }
    }

    /// The request of an endpoint as the client would send it now, to the server it would try first: with
    /// parameters rewritten, encoded and signed. Credential and cookies are added when it is sent: see
    /// ``Session/authorize(_:)`` and ``exchange(_:following:usesCookies:)``.
    ///
    /// - Throws: `invalidURL`, `invalidHeader`, `invalidParameters`, or the errors of rewriting and
    ///   signature.
    public func serialized(_ endpoint: some Endpoint) throws(NetworkError) -> Request {
        let prepared = try PreparedRequest(endpoint, of: self, on: scheduler)
        let server = prepared.servers[servers.role(for: prepared.server)]
        let request = try prepared.serialized()
        return try prepared.signed(prepared.moved(request, to: server), from: request, at: server)
    }
}
