import RxHTTP
import RxLite

/// Follows redirects, and upgrades to https for hosts with HSTS: each hop is an exchange.
struct Redirects: TransferStage {
    func transfers(
        _ request: Request, in call: CallContext, _ next: Next
    ) -> Observable<TransferEvent, NetworkError> {
        Hops(call.cookies == nil ? next : next.following(redirectsOf: request), over: call.client.transport)
            .send(request, following: call.settings.redirects ?? call.client.configuration.redirects)
            .redirectsTraced(by: call.trace)
    }

    /// The later stages, as the transport of the exchanges.
    private final class Hops: Transport {
        private let transport: any Transport
        private let next: Next

        init(_ next: Next, over transport: any Transport) {
            self.transport = transport
            self.next = next
        }

        var scheduler: any Scheduler { transport.scheduler }
        var hsts: HSTSStore? { transport.hsts }
        var files: any FileSystem { transport.files }

        func send(_ request: Request) -> Observable<TransferEvent, NetworkError> { next.transfers(request) }
    }
}
