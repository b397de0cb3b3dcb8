import RxHTTP
import RxLite

extension Observable<TransferEvent, NetworkError> {
    /// The exchange of `request` as over the network that developer tools emulate: later and more slowly, or not at all.
    /// A change of the network applies at once, also to what waits already.
    func emulating(_ hub: TrafficHub, for request: Request, on scheduler: any Scheduler) -> Self {
        .deferred(on: scheduler) {
            let network = hub.tools.network
            guard network?.isOffline != true else {
                var error = Self.offline(.unreachable, request)
                error.isUnsent = true
                return .fail(error)
            }
            let lost = hub.networks.filter { $0?.isOffline == true }.setFailureType(to: NetworkError.self)
                .flatMap { _ in Observable<Never, NetworkError>.fail(Self.offline(.connectionLost, request)) }
            let later =
                network == nil
                ? self : hub.wait(on: scheduler) { $0.delay(of: request) }.flatMap(.concat) { self }
            return later.flatMap(.concat) { event in
                guard case .chunk(let bytes) = event, hub.tools.network != nil else { return .just(event) }
                return hub.wait(on: scheduler) { $0.delay(of: bytes) }.map { event }
            }
            .take(until: lost)
        }
    }

    private static func offline(_ code: NetworkError.Code, _ request: Request) -> NetworkError {
        NetworkError(code, "the developer tools emulate a missing network", request: request)
    }
}

extension TrafficHub {
    /// One value after the time that the emulated network takes, from the beginning for another network.
    fileprivate func wait(
        on scheduler: any Scheduler, _ time: @escaping @Sendable (EmulatedNetwork) -> Duration
    ) -> Observable<Void, NetworkError> {
        networks.setFailureType(to: NetworkError.self).observe(on: scheduler)
            .flatMap(.latest) { network -> Observable<Void, NetworkError> in
                let time = network.map(time) ?? .zero
                return time > .zero ? .timer(time, on: scheduler) : .just(())
            }
            .take(1)
    }
}

extension EmulatedNetwork {
    /// The time before the response to a request.
    fileprivate func delay(of request: Request) -> Duration {
        latency + Self.time(of: request.body.count ?? 0, at: uploadRate)
    }

    /// The time of a part of a response's body.
    fileprivate func delay(of bytes: [UInt8]) -> Duration {
        Self.time(of: Int64(bytes.count), at: downloadRate)
    }

    /// The time that bytes take, a day at most.
    private static func time(of count: Int64, at rate: Double?) -> Duration {
        guard let rate, rate > 0 else { return .zero }
        return .seconds(min(Double(count) / rate, 86_400))
    }
}
