import RxHTTP
import RxLite

/// A transport whose requests carry the cookies of a jar and whose answers fill it: below the following of
/// redirects, so that each hop does both.
struct CookieTransport: Transport {
    let transport: any Transport
    let jar: CookieJar
    /// Whose servers have their cookies in common.
    let servers: ServerPair
    /// The account of the first request, which all hops of its redirects belong to; `nil` without a session.
    let account: CookieJar.Account?

    var scheduler: any Scheduler { transport.scheduler }
    var hsts: HSTSStore? { transport.hsts }

    func send(_ request: Request) -> Observable<TransferEvent, NetworkError> {
        Observable(scheduler: scheduler) { observer in
            guard !jar.isRestored else { return exchange(request).subscribe(observer) }
            jar.restored.flatMap { exchange(request) }.subscribe(observer)
        }
    }

    private func exchange(_ request: Request) -> Observable<TransferEvent, NetworkError> {
        guard let origin = servers.cookieOrigin(of: request.url) else { return transport.send(request) }
        guard let (sent, cookies, epoch) = jar.adding(to: request, at: origin, as: account) else {
            request.sentFields?.note(cookies: "")
            return transport.send(request)
        }
        request.sentFields?.note(cookies: cookies)
        return transport.send(sent).handleEvents(onNext: { event in
            guard case .head(let head) = event else { return }
            jar.store(head, for: request, at: origin, epoch: epoch, as: account)
        })
    }
}
