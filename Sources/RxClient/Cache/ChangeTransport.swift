import RxCache
import RxHTTP
import RxLite

/// A transport that tells a cache of the requests that may change something: below the following of redirects, so that
/// each hop counts, and below all ways of sending a request, so that none is left out.
struct ChangeTransport: Transport {
    let transport: any Transport
    let cache: ResponseCache
    let servers: ServerPair

    var scheduler: any Scheduler { transport.scheduler }
    var hsts: HSTSStore? { transport.hsts }

    func send(_ request: Request) -> Observable<TransferEvent, NetworkError> {
        guard !request.isSafe else { return transport.send(request) }
        let change = CacheChange(request, in: cache, at: servers, mayBeUpgraded: hsts != nil)
        return transport.send(request).handleEvents(
            onSubscribe: { change.begin() },
            onNext: { event in if case .head(let head) = event { change.end(with: head) } },
            onEnd: { if case .failed = $0 { change.end() } }, onCancel: { change.end() })
    }
}
