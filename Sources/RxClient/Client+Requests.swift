import HTTPTypes
public import RxHTTP
public import RxLite

extension Client {
    /// The typed result of an endpoint: one value, then the end.
    ///
    /// It goes through all stages of the pipeline (``pipeline(for:as:)``). Most are operators too that can be chained by hand: on
    /// ``response(_:from:)``, or from the first stage on, with ``serialized(_:)``, ``Session/authorize(_:)`` and
    /// ``exchange(_:following:usesCookies:)``.
    public func request<E: Endpoint>(_ endpoint: E) -> Observable<E.Output, NetworkError> {
        typed(endpoint) { $0.output }
    }

    /// The same, with the response next to the output.
    public func typedResponse<E: Endpoint>(_ endpoint: E) -> Observable<TypedResponse<E.Output>, NetworkError>
    {
        typed(endpoint) { $0 }
    }

    /// A request with its progress in both directions, and then its typed result. It goes through the same stages
    /// as ``request(_:)``.
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
    /// There are at most 20 values a second in each direction, and always the last one. An attempt that is repeated,
    /// after a failure or a new login, counts from the start again.
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

    /// The response of an endpoint as it arrives, for bodies that are too large, or too slow, to wait for.
    ///
    /// Chain what is to become of it: `chunks()`, `lines()`, `jsonLines(_:)`, `serverSentEvents()`, `file(at:in:)`.
    /// A subscriber that is full stops the network.
    ///
    /// ```swift
    /// client.stream(.get("/goods.jsonl")).jsonLines(Goods.self)
    ///     .subscribe(onNext: { goods in … }, onFailure: { error in … })
    /// ```
    ///
    /// Until the response begins it behaves like ``request(_:)``: credential, retry, relogin; a status that is no
    /// success fails with `status`. Later failures are final, since part of the response has been delivered. The
    /// endpoint's envelope, types of content, part, validator and output do not matter. ``Timeouts/attempt`` and
    /// ``Timeouts/total`` count to the end of the body.
    public func stream(_ endpoint: some Endpoint) -> Observable<TransferEvent, NetworkError> {
        call(.stream, endpoint) { event in
            if case .transfer(let event) = event { event } else { nil }
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
        call(.response, endpoint, CallSettings(server: server)) { event in
            if case .response(let response) = event { response } else { nil }
        }
    }

    /// One exchange of a request made by hand, unchanged: with the jar's cookies and redirects, but without credential,
    /// retry, or check of the status. The events of any response are delivered as they arrive; `response(to:)` gathers
    /// them.
    ///
    /// ```swift
    /// let request = Request(method: .put, url: url, body: .bytes(image))
    /// client.exchange(request, following: .manual).response(to: request)
    /// ```
    ///
    /// The configuration's header fields, timeouts and limits do not apply; ``Timeouts/total`` does not count. Of the
    /// configuration's interceptors those around exchanges do.
    ///
    /// - Parameters:
    ///   - request: the request to send.
    ///   - redirects: which redirects are followed. Default: the client's policy.
    ///   - usesCookies: whether the jar takes part, if there is one. Default true.
    public func exchange(
        _ request: Request, following redirects: RedirectPolicy? = nil, usesCookies: Bool = true
    ) -> Observable<TransferEvent, NetworkError> {
        let scheduler = scheduler
        return Observable(scheduler: scheduler) { observer in
            let settings = CallSettings(redirects: redirects, usesCookies: usesCookies)
            let call = CallContext(request, of: self, on: scheduler, settings)
            call.start().compactMap { event in
                if case .transfer(let event) = event { event } else { nil }
            }
            .subscribe(observer)
        }
    }

    /// The request of an endpoint as it would be sent now, to the server that would come first: parameters rewritten,
    /// encoded and signed. Credential and cookies are added when it is sent: see ``Session/authorize(_:)`` and
    /// ``exchange(_:following:usesCookies:)``.
    ///
    /// - Throws: `invalidURL`, `invalidHeader`, `invalidParameters`, or what rewriting and signature throw.
    public func serialized(_ endpoint: some Endpoint) throws(NetworkError) -> Request {
        let prepared = try PreparedRequest(endpoint, of: self, on: scheduler)
        let server = prepared.servers[servers.role(for: prepared.server)]
        let request = try prepared.serialized()
        return try prepared.signed(prepared.moved(request, to: server), from: request, at: server)
    }
}
