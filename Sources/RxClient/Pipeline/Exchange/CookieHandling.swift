import RxCookies
import RxHTTP
import RxLite

/// Adds the jar's cookies to the request, and stores the cookies of the response (RFC 6265).
struct CookieHandling: TransferStage {
    func transfers(
        _ request: Request, in call: CallContext, _ next: Next
    ) -> Observable<TransferEvent, NetworkError> {
        // The exchanges of a redirect belong to the account of the first request.
        let first = next.first ?? request
        guard let jar = call.cookies, !first.isCredentialFree else { return next.transfers(request) }
        let account = first.credentialVersion.flatMap { stamp in
            call.client.configuration.session.map {
                CookieJar.Account(stamp.identity, of: $0.seed)
            }
        }
        return Observable(scheduler: call.scheduler) { observer in
            guard !jar.isRestored else {
                return exchange(request, jar, account, call, next).subscribe(observer)
            }
            jar.restored.flatMap { exchange(request, jar, account, call, next) }.subscribe(observer)
        }
    }

    private func exchange(
        _ request: Request, _ jar: CookieJar, _ account: CookieJar.Account?, _ call: CallContext, _ next: Next
    ) -> Observable<TransferEvent, NetworkError> {
        guard let origin = call.prepared.servers.cookieOrigin(of: request.url) else {
            return next.transfers(request)
        }
        guard let (sent, cookies, epoch) = jar.adding(to: request, at: origin, as: account) else {
            request.sentFields?.note(cookies: "")
            return next.transfers(request)
        }
        request.sentFields?.note(cookies: cookies)
        return next.transfers(sent).handleEvents(onNext: { event in
            guard case .head(let head) = event else { return }
            jar.store(head, for: request, at: origin, epoch: epoch, as: account)
        })
    }
}
