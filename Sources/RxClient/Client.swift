import RxCookies
public import RxHTTP
import RxLite
import RxParameters

/// A client of one service: base URL, envelope, session, and everything else that its requests share.
///
/// ```swift
/// let client = Client(baseURL: "https://api.example.com/v1")
///
/// client.get("/goods/1").decode(Goods.self)
///     .subscribe(onNext: { goods in show(goods) }, onFailure: { error in show(error.message) })
/// ```
///
/// Everything that a client returns is a cold stream: each subscription sends a new request, and cancelling
/// the subscription cancels the transfer. Operators below a request run on the transport's scheduler, up to
/// `observe(on:)`. Safe from any thread.
public final class Client: Sendable {
    /// The configuration of the client's requests.
    public let configuration: ClientConfiguration
    /// The transport that sends the requests.
    public let transport: any Transport
    /// The servers of the service, and which of them is active.
    public let servers: Servers
    /// The state of the hosts that requests go to.
    let hosts: HostRegistry
    /// The subscribers to the client's traffic.
    let trafficHub = TrafficHub()
    let running = RunningRequests()
    /// The common base of all requests.
    let template: RequestTemplate
    let validations: Validations
    /// The options of endpoints that set none.
    let options: MergedOptions
    /// The stages of the client's calls.
    let pipeline: Pipeline
    let errorTipSignal = Signal<NetworkError>()
    /// How parameters that say nothing else are written.
    let parameterDefaults: ParameterDefaults
    /// The scheduler of the client's next stream: the transport's scheduler for the main server.
    var scheduler: any Scheduler { transport.scheduler(for: servers.pair.main.origin) }

    /// Creates a client.
    ///
    /// - Parameters:
    ///   - configuration: the configuration of the client's requests.
    ///   - transport: the transport that sends the requests.
    public init(configuration: ClientConfiguration, transport: any Transport) {
        self.configuration = configuration
        self.transport = transport
        template = RequestTemplate(configuration)
        parameterDefaults = ParameterDefaults(
            format: configuration.parameterFormat, style: configuration.parameterStyle,
            encoder: configuration.encoder)
        validations = Validations(configuration.options)
        options = MergedOptions(over: configuration.options)
        pipeline = Pipeline(configuration, features: options.features)
        configuration.session?.attach(configuration.cookies, to: transport)
        configuration.cookies?.clock.setIfUnset(transport.scheduler)
        configuration.cache.clock.setIfUnset(transport.scheduler)
        hosts = HostRegistry(configuration, on: transport.scheduler)
        servers = Servers(
            main: configuration.baseURL, standby: configuration.standbyURL,
            failoverProbeInterval: configuration.failoverProbeInterval, hosts: hosts,
            clock: transport.scheduler)
    }

    /// Creates a client.
    ///
    /// ```swift
    /// let client = Client(baseURL: "https://shop.test", transport: ScriptedTransport(on: clock, rules))
    /// ```
    ///
    /// - Parameters:
    ///   - baseURL: the URL that paths are relative to; replaces the base URL of the configuration.
    ///   - configuration: the configuration of the client's requests.
    ///   - transport: the transport that sends the requests.
    public convenience init(
        baseURL: String, configuration: ClientConfiguration = ClientConfiguration(), transport: any Transport
    ) {
        var configuration = configuration
        configuration.baseURL = baseURL
        self.init(configuration: configuration, transport: transport)
    }

    deinit { trafficHub.close() }
}

extension Client: RedactedDescription {
    /// The base URL without user info and query.
    public var description: String { "client of \(servers.main.withoutSecrets)" }
}

extension Client {
    /// The circuit breaker of a server's host; `nil` if the configuration has no
    /// ``ClientConfiguration/circuitBreaker``, or the client has no such server.
    ///
    /// ```swift
    /// client.circuitBreaker()?.state.subscribe { state in lamp.show(state) }
    /// ```
    public func circuitBreaker(of server: Servers.Role = .main) -> CircuitBreaker? {
        servers.pair[server]?.host?.breaker
    }

    /// The limiter for ``ClientConfiguration/limits`` and ``ClientConfiguration/hostLimits``; `nil` without
    /// limits.
    public var limiter: RequestLimiter? { hosts.limiter }
}
