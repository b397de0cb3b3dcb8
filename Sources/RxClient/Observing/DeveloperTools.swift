import RxHTTP
import RxLite

/// The settings of developer tools, for requests that begin while something observes the client.
package struct DeveloperTools: Sendable, Equatable {
    /// The network to emulate. Default `nil`: the real one.
    package var network: EmulatedNetwork?
    /// Whether requests go to the server although a stored response could be used. Default false.
    package var isCacheDisabled: Bool

    /// Creates settings. The default ones change nothing.
    package init(network: EmulatedNetwork? = nil, isCacheDisabled: Bool = false) {
        self.network = network
        self.isCacheDisabled = isCacheDisabled
    }

    /// Combines the settings of several tools: the last emulated network applies, and the cache is disabled if one of them
    /// disables it.
    package init(combining all: some Sequence<DeveloperTools>) {
        self.init()
        for tools in all {
            network = tools.network ?? network
            isCacheDisabled = isCacheDisabled || tools.isCacheDisabled
        }
    }
}

/// A network that is slower than the real one.
package struct EmulatedNetwork: Sendable, Equatable {
    /// Whether nothing can be sent.
    package var isOffline: Bool
    /// The time that is added before each exchange.
    package var latency: Duration
    /// The maximum number of bytes of a body per second; `nil` for no limit.
    package var downloadRate: Double?
    /// The maximum number of bytes of a request's body per second; `nil` for no limit.
    package var uploadRate: Double?

    /// Creates a network. The default one emulates nothing; `FrontEnd.swift` of RxInspector finds it by comparison.
    package init(
        isOffline: Bool = false, latency: Duration = .zero, downloadRate: Double? = nil,
        uploadRate: Double? = nil
    ) {
        self.isOffline = isOffline
        self.latency = latency
        self.downloadRate = downloadRate
        self.uploadRate = uploadRate
    }
}

extension Client {
    /// The settings of all developer tools together.
    package var developerTools: DeveloperTools { trafficHub.tools }

    /// Replaces the settings of one of the developer tools, and leaves those of the others. A change of the network
    /// applies to running exchanges, too; disabling the cache, to requests that begin afterwards.
    ///
    /// - Parameters:
    ///   - tools: the settings; the default settings withdraw the previous ones.
    ///   - owner: the developer tools.
    package func apply(_ tools: DeveloperTools, of owner: AnyObject) { trafficHub.apply(tools, of: owner) }
}

// MARK: - The emulated network

extension Observable<TransferEvent, NetworkError> {
    /// The exchange of `request` as over the network that developer tools emulate: later and more slowly, or not at all.
    /// A change of the network applies at once, also to what waits already.
    func emulating(_ hub: TrafficHub, for request: Request, on scheduler: any Scheduler) -> Self {
        .deferred(on: scheduler) {
            let networkAtStart = hub.tools.network
            guard networkAtStart?.isOffline != true else {
                var error = Self.offline(.unreachable, request)
                error.isUnsent = true
                return .fail(error)
            }
            let lost = hub.networks.filter { $0?.isOffline == true }.setFailureType(to: NetworkError.self)
                .flatMap { _ in Observable<Never, NetworkError>.fail(Self.offline(.connectionLost, request)) }
            let delayed =
                networkAtStart == nil
                ? self : hub.wait(on: scheduler) { $0.delay(of: request) }.flatMap(.concat) { self }
            return delayed.flatMap(.concat) { event in
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
    /// One value after the time that the emulated network takes. A change of the network starts the time again.
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
