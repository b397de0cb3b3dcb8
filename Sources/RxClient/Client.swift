import RxCookies
public import RxHTTP
import RxLite

/// One server, as an app sees it: its address, the envelope of its responses, the session.
///
/// ```swift
/// let client = Client(baseURL: "https://api.example.com/v1")
///
/// client.get("/goods/1").decode(Goods.self)
///     .subscribe(onNext: { goods in … }, onFailure: { error in … })
/// ```
///
/// Everything a client makes is a cold stream: each subscription sends its own request, and cancelling the subscription
/// cancels the transfer. Operators below a request run on the transport's scheduler, up to
/// `observe(on:)`. Safe from any thread.
public final class Client: Sendable {
    /// How requests are made.
    public let configuration: ClientConfiguration
    /// The transport that sends them.
    public let transport: any Transport
    /// Where the service is, and which of its servers is active.
    public let servers: Servers
    /// What is known of the hosts that requests go to.
    let hosts: HostRegistry
    /// Who listens to what it does.
    let trafficHub = TrafficHub()
    let running = RunningRequests()
    /// What all its requests begin as.
    let template: RequestTemplate
    let validations: Validations
    /// The stages that its calls go through.
    let pipeline: Pipeline
    let errorTipSignal = Signal<NetworkError>()
    /// What the client's next stream runs on: the transport's scheduler for the main server.
    var scheduler: any Scheduler { transport.scheduler(for: servers.pair.main.origin) }

    /// Creates a client.
    ///
    /// - Parameters:
    ///   - configuration: how requests are made.
    ///   - transport: what carries them.
    public init(configuration: ClientConfiguration, transport: any Transport) {
        self.configuration = configuration
        self.transport = transport
        template = RequestTemplate(configuration)
        validations = Validations(configuration.options)
        pipeline = Pipeline(configuration)
        configuration.session?.attach(configuration.cookies, on: transport.scheduler)
        configuration.cookies?.clock.adopt(transport.scheduler)
        configuration.cache.clock.adopt(transport.scheduler)
        hosts = HostRegistry(configuration, on: transport.scheduler)
        servers = Servers(
            main: configuration.baseURL, standby: configuration.standbyURL, failover: configuration.failover,
            hosts: hosts, clock: transport.scheduler)
    }

    deinit { trafficHub.close() }
}
