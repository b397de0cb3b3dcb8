public import RxLite

extension Transport {
    /// Sends `request` and follows the redirects that `policy` allows, each as soon as its head is there; each new
    /// request is announced by ``TransferEvent/redirected(_:by:)``.
    public func send(
        _ request: Request, following policy: RedirectPolicy
    ) -> Observable<TransferEvent, NetworkError> {
        let first = authenticated(request)
        return Observable(scheduler: first.scheduler) { observer in
            var (request, count) = (request, 0)
            let chain = ExchangeChain(into: observer) { head throws(NetworkError) in
                guard let next = try policy.redirect(request, to: head, count: count) else { return nil }
                (request, count) = (next, count + 1)
                return .init(announcement: .redirected(next, by: head), exchange: self.authenticated(next))
            }
            chain.start(first)
        }
    }
}
