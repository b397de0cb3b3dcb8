import RxCache
public import RxHTTP
public import RxLite

extension Client {
    /// One exchange of a request made by hand, unchanged: with the jar's cookies and redirects, but without credential,
    /// retry, or check of the status. The events of any response are delivered as they arrive; `response(to:)` gathers
    /// them.
    ///
    /// ```swift
    /// let request = Request(method: .put, url: url, body: .bytes(image))
    /// client.exchange(request, following: .manual).response(to: request)
    /// ```
    ///
    /// The configuration's header fields, timeouts and limits do not apply; ``Timeouts/total`` does not count.
    ///
    /// - Parameters:
    ///   - request: the request to send.
    ///   - redirects: which redirects are followed. Default: the client's policy.
    ///   - usesCookies: whether the jar takes part, if there is one. Default true.
    public func exchange(
        _ request: Request, following redirects: RedirectPolicy? = nil, usesCookies: Bool = true
    ) -> Observable<TransferEvent, NetworkError> {
        Observable(scheduler: scheduler) { [configuration] observer in
            let cookies = usesCookies ? configuration.cookies : nil
            let trace = self.trace(of: request)
            self.exchange(
                request, following: redirects ?? configuration.redirects, cookies, at: self.servers.pair,
                trace
            )
            .traced(by: trace, isWhole: false)
            .subscribe(observer)
        }
    }

    /// The request of an endpoint as it would be sent now, to the server that would come first: parameters rewritten,
    /// encoded and signed. Credential and cookies are added when it is sent: see ``Session/authorize(_:)`` and
    /// ``exchange(_:following:usesCookies:)``.
    ///
    /// - Throws: `invalidURL`, `invalidHeader`, `invalidParameters`, or what rewriting and signature throw.
    public func serialized(_ endpoint: some Endpoint) throws(NetworkError) -> Request {
        let draft = try Draft(endpoint, of: self, on: scheduler)
        return try draft.serialized(at: draft.servers[servers.role(for: draft.server)])
    }

    /// Reports changes to the cache, adds cookies, and sends, at each redirect.
    func exchange(
        _ request: Request, following redirects: RedirectPolicy, _ cookies: CookieJar?,
        at servers: ServerPair, _ trace: Trace?
    ) -> Observable<TransferEvent, NetworkError> {
        var transport = transport.traced(by: trace)
        if let sentFields = request.sentFields {
            transport = NotingTransport(transport: transport, sentFields: sentFields)
        }
        if let cookies, !request.isCredentialFree {
            let account = request.credentialVersion.flatMap { stamp in
                configuration.session.map { CookieJar.Account(session: $0.seed, identity: stamp.identity) }
            }
            transport = CookieTransport(
                transport: transport, jar: cookies, servers: servers, account: account)
        }
        if !request.isSafe {
            transport = ChangeTransport(transport: transport, cache: configuration.cache, servers: servers)
        }
        return transport.send(request, following: redirects).redirectsTraced(by: trace)
    }
}
