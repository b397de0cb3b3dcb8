public import RxLite

extension Transport {
    /// Sends `request` and follows the redirects that `policy` allows, each as soon as its head has arrived.
    /// Each new request is announced by ``TransferEvent/redirected(_:by:)``.
    ///
    /// Requests and redirect targets whose host is in ``Transport/hsts`` go to https. For the first request
    /// this is announced like a redirect, by a head that no server has sent: 307 with
    /// `Non-Authoritative-Reason: HSTS`. It does not count as a redirect.
    /// not count as one.
    public func send(
        _ request: Request, following policy: RedirectPolicy
    ) -> Observable<TransferEvent, NetworkError> {
        let first = authenticated(request)
        guard let hsts else {
            return Observable(scheduler: first.scheduler) { follow(policy, from: request, first, into: $0) }
        }
        return Observable(scheduler: first.scheduler) { observer in
            guard !hsts.isRestored else { return upgrade(request, by: hsts, policy, into: observer) }
            hsts.restored.flatMap {
                Observable(scheduler: first.scheduler) { upgrade(request, by: hsts, policy, into: $0) }
            }
            .subscribe(observer)
        }
    }

    /// Sends the request over TLS if its host requires TLS.
    private func upgrade(
        _ request: Request, by hsts: HSTSStore, _ policy: RedirectPolicy,
        into observer: Observer<TransferEvent, NetworkError>
    ) {
        let upgraded = request.upgraded(by: hsts, at: scheduler.currentDate)
        if let upgraded { observer.next(.redirected(upgraded, by: .upgrade)) }
        guard observer.scope.isOpen else { return }
        let request = upgraded ?? request
        follow(policy, from: request, authenticated(request), into: observer)
    }

    private func follow(
        _ policy: RedirectPolicy, from request: Request, _ first: Observable<TransferEvent, NetworkError>,
        into observer: Observer<TransferEvent, NetworkError>
    ) {
        var (request, count) = (request, 0)
        let chain = ExchangeChain(into: observer) { head throws(NetworkError) in
            let next = try policy.redirect(request, to: head, count: count) { url in
                hsts?.upgrade(url, at: scheduler.currentDate)
            }
            guard let next else { return nil }
            (request, count) = (next, count + 1)
            return .init(announcement: .redirected(next, by: head), exchange: authenticated(next))
        }
        chain.start(first)
    }
}
