import HTTPTypes
public import RxHTTP
public import RxLite
public import RxParameters

extension Client {
    /// The typed result of an endpoint: one value, then completion.
    ///
    /// The call goes through all stages of the pipeline (``pipeline(for:as:)``). Most stages also exist as
    /// operators to chain by hand: after ``response(_:from:)``, or from the first stage on with
    /// ``serialized(_:)``, ``Session/authorize(_:)`` and ``exchange(_:following:usesCookies:)``.
    public func request<E: Endpoint>(_ endpoint: E) -> Observable<E.Output, NetworkError> {
        typed(endpoint) { $0.output }
    }

    /// The typed result of an endpoint together with its response: one value, then completion.
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
            self.typed(endpoint, .progress, CallOverrides(reader: reading)) { .finished($0) }
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
        transferEvents(of: endpoint, CallOverrides())
    }

    func transferEvents(
        of endpoint: some Endpoint, _ overrides: CallOverrides
    ) -> Observable<TransferEvent, NetworkError> {
        call(.stream, endpoint, overrides) { event, call throws(NetworkError) in
            guard case .transfer(let event) = event else { throw call.unexpected(event) }
            return event
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
        _ endpoint: E, from server: Servers.Role? = nil
    ) -> Observable<Response, NetworkError> {
        call(.response, endpoint, CallOverrides(server: server)) { event, call throws(NetworkError) in
            guard case .response(let response) = event else { throw call.unexpected(event) }
            return response
        }
    }

    /// One exchange of a request built by hand, unchanged: with the jar's cookies, the client's signer and redirects,
    /// but without credential, retries or status check. It delivers the events of any response as they arrive;
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
            guard self.running.insertRaw() else {
                return observer.scope.perform { observer.fail(.shutDown(request)) }
            }
            observer.scope.onClose { self.running.removeRaw() }
            let overrides = CallOverrides(redirects: redirects, usesCookies: usesCookies)
            let call = CallContext(request, of: self, on: scheduler, overrides)
            CallRun(call, into: observer) { event, call throws(NetworkError) in
                guard case .transfer(let event) = event else { throw call.unexpected(event) }
                return event
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

/// A typed result with the response that it was made from.
public struct TypedResponse<Output: Sendable>: Sendable {
    /// The typed result.
    public let output: Output
    /// The whole response, including its body.
    public let response: Response

    /// The server's message in the envelope of the success, such as `saved`; `nil` if it sends none.
    public var serverMessage: String? {
        response.serverMessage.flatMap { try? $0.scalarText(in: response.body) }
    }
}

extension Endpoint {
    /// Decodes and validates the response. The response supplies the details that an error of the validator
    /// lacks.
    ///
    /// - Parameter result: makes the result of the call.
    func result<T>(
        of response: Response, as result: (TypedResponse<Output>) -> T
    ) throws(NetworkError) -> T {
        let typed = TypedResponse(output: try output(from: response), response: response)
        do throws(NetworkError) {
            try validate(typed)
        } catch {
            throw error.concerning(response)
        }
        return result(typed)
    }
}

/// An event of ``Client/progress(of:)``.
public enum ProgressEvent<Output: Sendable>: Sendable {
    /// The bytes of the request's body that have been handed to the network.
    case uploaded(TransferProgress)
    /// The bytes of the response's body that have arrived.
    case downloaded(TransferProgress)
    /// The typed result; the last value.
    case finished(TypedResponse<Output>)
}

// MARK: - Requests without an endpoint type

/// Shorthands for requests without an endpoint type. Each goes through all stages of ``Client/request(_:)``;
/// `decode` decodes the response. `at` takes the values of the path's placeholders.
///
/// ```swift
/// client.get("/users/{id}", at: ["id": id]).decode(User.self)
/// client.post("/cart", ["goods": 7, "count": 2]).decode(Cart.self)
/// ```
extension Client {
    /// Sends a GET request.
    public func get(
        _ path: String, at pathValues: PathValues = [:], query: Parameters.Values = [:],
        headers: Headers = [:], options: RequestOptions = RequestOptions()
    ) -> Observable<Response, NetworkError> {
        request(.get(path, at: pathValues, query: query, headers: headers, options: options))
    }

    /// Sends a GET request with the members of a model, or of a list of models, as its query. With other methods, write
    /// `.query(model)`: see ``Parameters``.
    @_disfavoredOverload
    public func get(
        _ path: String, at pathValues: PathValues = [:], query: some Encodable & Sendable,
        headers: Headers = [:], options: RequestOptions = RequestOptions()
    ) -> Observable<Response, NetworkError> {
        request(.get(path, at: pathValues, query: query, headers: headers, options: options))
    }

    /// Sends a HEAD request.
    public func head(
        _ path: String, at pathValues: PathValues = [:], query: Parameters.Values = [:],
        headers: Headers = [:], options: RequestOptions = RequestOptions()
    ) -> Observable<Response, NetworkError> {
        request(.head(path, at: pathValues, query: query, headers: headers, options: options))
    }

    /// Sends a HEAD request with the members of a model, or of a list of models, as its query. With other methods, write
    /// `.query(model)`: see ``Parameters``.
    @_disfavoredOverload
    public func head(
        _ path: String, at pathValues: PathValues = [:], query: some Encodable & Sendable,
        headers: Headers = [:], options: RequestOptions = RequestOptions()
    ) -> Observable<Response, NetworkError> {
        request(.head(path, at: pathValues, query: query, headers: headers, options: options))
    }

    /// Sends a POST request.
    public func post(
        _ path: String, at pathValues: PathValues = [:], _ parameters: Parameters = .none,
        query: Parameters.Values = [:], headers: Headers = [:],
        options: RequestOptions = RequestOptions()
    ) -> Observable<Response, NetworkError> {
        request(
            InlineEndpoint(
                .post, path, at: pathValues, parameters, query: query, headers: headers, options: options))
    }

    /// Sends a PUT request.
    public func put(
        _ path: String, at pathValues: PathValues = [:], _ parameters: Parameters = .none,
        query: Parameters.Values = [:], headers: Headers = [:],
        options: RequestOptions = RequestOptions()
    ) -> Observable<Response, NetworkError> {
        request(
            InlineEndpoint(
                .put, path, at: pathValues, parameters, query: query, headers: headers, options: options))
    }

    /// Sends a PATCH request.
    public func patch(
        _ path: String, at pathValues: PathValues = [:], _ parameters: Parameters = .none,
        query: Parameters.Values = [:], headers: Headers = [:],
        options: RequestOptions = RequestOptions()
    ) -> Observable<Response, NetworkError> {
        request(
            InlineEndpoint(
                .patch, path, at: pathValues, parameters, query: query, headers: headers, options: options))
    }

    /// Sends a DELETE request.
    public func delete(
        _ path: String, at pathValues: PathValues = [:], _ parameters: Parameters = .none,
        query: Parameters.Values = [:], headers: Headers = [:],
        options: RequestOptions = RequestOptions()
    ) -> Observable<Response, NetworkError> {
        request(
            InlineEndpoint(
                .delete, path, at: pathValues, parameters, query: query, headers: headers, options: options))
    }
}
