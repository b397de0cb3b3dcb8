public import RxHTTP
public import RxLite

extension Client {
    /// One exchange of a request made by hand, as it stands: with the jar's cookies and redirects, and without
    /// credential, retry, and judgement of the status. Whatever the answer is, its events come as they come;
    /// `response(to:)` gathers them.
    ///
    /// ```swift
    /// let request = Request(method: .put, url: url, body: .bytes(image))
    /// client.exchange(request, following: .manual).response(to: request)
    /// ```
    ///
    /// The configuration's header fields, timeouts and limits do not go into it; ``Timeouts/total`` does not count.
    ///
    /// - Parameters:
    ///   - request: what is sent.
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

    /// The request of an endpoint as it would be sent now, to the server that would be asked first: parameters
    /// rewritten, encoded and signed. Its credential and cookies come when it is sent: see
    /// ``Session/authorize(_:)`` and ``exchange(_:following:usesCookies:)``.
    ///
    /// - Throws: `invalidURL`, `invalidHeader`, `invalidParameters`, or what rewriting and signature throw.
    public func serialized(_ endpoint: some Endpoint) throws(NetworkError) -> Request {
        let draft = try Draft(endpoint, of: self, on: scheduler)
        return try draft.serialized(at: draft.servers[servers.role(for: draft.server)])
    }

    /// The cache's ear and cookies, then the transport, at each redirect.
    func exchange(
        _ request: Request, following redirects: RedirectPolicy, _ cookies: CookieJar?,
        at servers: ServerPair, _ trace: Trace?
    ) -> Observable<TransferEvent, NetworkError> {
        var transport = transport.traced(by: trace)
        if let sentFields = request.sentFields {
            transport = NotingTransport(transport: transport, sentFields: sentFields)
        }
        if let cookies, !request.isCredentialFree {
            let account = request.credentialStamp.flatMap { stamp in
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
