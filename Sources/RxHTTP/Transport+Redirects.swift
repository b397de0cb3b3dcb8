public import RxLite

extension Transport {
    /// Sends `request` and follows the redirects that `policy` allows, each as soon as its head has arrived.
    /// Each new request is announced by ``TransferEvent/redirected(_:by:)``.
    ///
    /// Requests and redirect targets whose host is in ``Transport/hsts`` go to https. For the first request
    /// this is announced like a redirect, by a head that no server has sent: 307 with
    /// `Non-Authoritative-Reason: HSTS`. It does not count as a redirect.
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
        let chain = ExchangeChain(from: request, into: observer) {
            head, request, count throws(NetworkError) in
            try redirect(request, to: head, by: policy, count: count).map {
                .init(request: $0, announcement: .redirected($0, by: head), exchange: authenticated($0))
            }
        }
        chain.start(first)
    }

    /// The request that follows `head`, the response to `request`; `nil` if the response is not a redirect that `policy`
    /// follows. A target whose host requires TLS goes to https.
    ///
    /// - Parameter count: the number of redirects before this one.
    package func redirect(
        _ request: Request, to head: ResponseHead, by policy: RedirectPolicy, count: Int
    ) throws(NetworkError) -> Request? {
        try policy.redirect(request, to: head, count: count) { url in
            hsts?.upgrade(url, at: scheduler.currentDate)
        }
    }
}
