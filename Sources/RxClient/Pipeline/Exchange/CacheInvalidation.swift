import RxCache
import RxHTTP
import RxLite

/// Tells the cache about requests that may change a resource at the server (RFC 9111 §4.4).
struct CacheInvalidation: TransferStage {
    func transfers(
        _ request: Request, in call: CallContext, _ next: Next
    ) -> Observable<TransferEvent, NetworkError> {
        guard !request.isSafe else { return next.transfers(request) }
        let change = CacheChange(
            request, in: call.client.configuration.cache, at: call.prepared.servers,
            mayBeUpgraded: call.client.transport.hsts != nil)
        return next.transfers(request).handleEvents(
            onSubscribe: { change.begin() },
            onNext: { event in if case .head(let head) = event { change.end(with: head) } },
            onEnd: { if case .failed = $0 { change.end() } }, onCancel: { change.end() })
    }
}
