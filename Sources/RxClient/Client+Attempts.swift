import RxHTTP
import RxLite

extension Client {
    /// Gives the events of an exchange on as they are.
    typealias Watch =
        @Sendable (Observable<TransferEvent, NetworkError>) -> Observable<TransferEvent, NetworkError>

    /// Makes something of the events of an exchange and of the request as it is sent.
    typealias Reading<T: Sendable> =
        @Sendable (Observable<TransferEvent, NetworkError>, Request) -> Observable<T, NetworkError>

    /// One attempt at each subscription, in this order: which server, and at it a second attempt beside the first, the
    /// circuit breaker, the queue; then credential, cookies, and the transport at each redirect.
    ///
    /// - Parameters:
    ///   - stages: which of these there are.
    ///   - prepare: the last touch to each request.
    ///   - result: what is made of the events of the exchange and of the request as it is sent.
    func send<T>(
        _ attempts: Attempts, session: Session?, cookies: CookieJar?, through stages: AttemptStages,
        preparing prepare: @escaping @Sendable (inout Request) -> Void = { _ in },
        as result: @escaping Reading<T>
    ) -> Observable<T, NetworkError> {
        let draft = attempts.draft
        func stream(_ server: Server?, _ host: HostState?) -> Observable<T, NetworkError> {
            guard let host, isGuarded(stages, draft) else {
                return exchange(
                    attempts, at: server, host, .zero, session: session, cookies: cookies,
                    preparing: prepare, as: result)
            }
            return staged(attempts, stages, at: host, session: session) { waited in
                self.exchange(
                    attempts, at: server, host, waited, session: session, cookies: cookies,
                    preparing: prepare, as: result)
            }
        }
        guard draft.isAtService else {
            return stream(nil, Origin(draft.request.url).map { hosts[$0] })
        }
        let main = draft.servers.main
        guard let standby = draft.servers.standby else { return stream(main, main.host) }
        let (atMain, atStandby) = (stream(main, main.host), stream(standby, standby.host))
        guard draft.server == .active, stages.contains(.failover) else {
            return .deferred(on: draft.scheduler) { [servers] in
                servers.role(for: draft.server) == .main ? atMain : atStandby
            }
        }
        return atMain.failover(
            to: atStandby, through: servers, mayProbe: attempts.isRepeatable, trace: attempts.trace)
    }

    /// Whether anything within an attempt looks at its outcome: the stages around each exchange, or the choice between
    /// the servers.
    func isStaged(_ stages: AttemptStages, _ draft: Draft) -> Bool {
        stages.contains(.failover) && draft.servers.standby != nil || isGuarded(stages, draft)
    }

    /// Whether any of the stages around an exchange is asked for and switched on.
    private func isGuarded(_ stages: AttemptStages, _ draft: Draft) -> Bool {
        stages.contains(.limits) && hosts.limiter != nil
            || stages.contains(.hedging) && draft.options.hedging?.isOn == true
            || stages.contains(.circuitBreaker) && configuration.circuitBreaker != nil
    }

    /// The stages around one exchange that are asked for and switched on.
    private func staged<T>(
        _ attempts: Attempts, _ stages: AttemptStages, at host: HostState, session: Session?,
        _ exchange: @escaping @Sendable (_ waited: Duration) -> Observable<T, NetworkError>
    ) -> Observable<T, NetworkError> {
        var stream: Observable<T, NetworkError>
        if stages.contains(.limits), let limiter = hosts.limiter, let place = host.place {
            let wait = QueueWait(
                limiter: limiter, place: place, limit: attempts.queueLimit,
                isExempt: { [configuration] scope in
                    configuration.session?.mayServeLogin(scope.lane, usesSession: session != nil) ?? false
                },
                onWait: { waited in
                    attempts.trace?.tell(waited.map { .admitted(after: $0) } ?? .queued)
                },
                attribute: attempts.attribute)
            stream = wait.then(on: attempts.draft.scheduler, exchange)
        } else {
            stream = exchange(.zero)
        }
        if stages.contains(.circuitBreaker), let breaker = host.breaker {
            stream = stream.guarded(by: breaker, attributing: attempts.attribute)
        }
        if stages.contains(.hedging), let hedging = attempts.draft.options.hedging, hedging.isOn,
            attempts.isRepeatable
        {
            stream = stream.hedge(hedging, host.latencies, host.budget, trace: attempts.trace)
        }
        return stream
    }

    /// One exchange at each subscription: the request as it is by then.
    private func exchange<T>(
        _ attempts: Attempts, at server: Server?, _ host: HostState?, _ waited: Duration, session: Session?,
        cookies: CookieJar?, preparing prepare: @escaping @Sendable (inout Request) -> Void,
        as result: @escaping Reading<T>
    ) -> Observable<T, NetworkError> {
        .deferred(on: attempts.draft.scheduler) { () throws(NetworkError) in
            var request = try attempts.next(at: server, host)
            if waited > .zero, let limit = request.timeouts.queue {
                // What is left of it for the transport's own queue.
                request.timeouts.queue = max(limit - waited, .nanoseconds(1))
            }
            prepare(&request)
            @Sendable func exchange(_ request: Request) -> Observable<T, NetworkError> {
                result(
                    self.exchange(
                        request, following: self.configuration.redirects, cookies,
                        at: attempts.draft.servers, attempts.trace),
                    request)
            }
            guard let session, !request.isCredentialFree else { return exchange(request) }
            if let authorized = try session.authorized(request) {
                attempts.note(authorized.credentialVersion)
                return exchange(authorized)
            }
            return session.authorize(request).flatMap { request in
                attempts.note(request.credentialVersion)
                return exchange(request)
            }
        }
    }
}
