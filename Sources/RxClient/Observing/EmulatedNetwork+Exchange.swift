import RxHTTP
import RxLite

extension Observable<TransferEvent, NetworkError> {
    /// The exchange of `request` as over the network: later and more slowly, or not at all.
    func emulating(_ network: EmulatedNetwork, for request: Request, on scheduler: any Scheduler) -> Self {
        guard !network.isOffline else {
            var error = NetworkError(
                .unreachable, "the developer tools emulate a missing network", request: request)
            error.isUnsent = true
            return .fail(error)
        }
        let upload = network.uploadRate.map { Self.time(of: request.body.count ?? 0, at: $0) } ?? .zero
        let wait = network.latency + upload
        let later =
            wait > .zero
            ? Observable<Void, NetworkError>.timer(wait, on: scheduler).flatMap(.concat) { self } : self
        guard let rate = network.downloadRate else { return later }
        return later.flatMap(.concat) { event in
            guard case .chunk(let bytes) = event else { return .just(event) }
            return .just(event).delay(Self.time(of: Int64(bytes.count), at: rate), on: scheduler)
        }
    }

    /// The time that bytes take, a day at most.
    private static func time(of count: Int64, at rate: Double) -> Duration {
        guard rate > 0 else { return .zero }
        return .seconds(Swift.min(Double(count) / rate, 86_400))
    }
}
