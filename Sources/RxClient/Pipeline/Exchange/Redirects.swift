import RxHTTP
import RxLite

/// Follows redirects, and upgrades to https for hosts with HSTS: each hop is an exchange.
struct Redirects: TransferStage {
    func transfers(
        _ request: Request, in call: CallContext, _ next: Next
    ) -> Observable<TransferEvent, NetworkError> {
        Hops(
            transport: call.client.transport,
            next: call.cookies == nil ? next : next.following(redirectsOf: request)
        )
        .send(request, following: call.settings.redirects ?? call.client.configuration.redirects)
        .redirectsTraced(by: call.trace)
    }

    /// The later stages, as the transport of the exchanges.
    private struct Hops: Transport {
        let transport: any Transport
        let next: Next

        var scheduler: any Scheduler { transport.scheduler }
        var hsts: HSTSStore? { transport.hsts }

        func send(_ request: Request) -> Observable<TransferEvent, NetworkError> { next.transfers(request) }
    }
}
