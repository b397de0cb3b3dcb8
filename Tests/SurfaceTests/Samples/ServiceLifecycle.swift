#if ServiceLifecycle
import Logging
import RxNetworking
import RxServices
import ServiceLifecycle
import UnixSignals

func runServices(_ shop: some Service) async throws {
    let loop = EventLoop(name: "shop")
    let client = Client(baseURL: "https://api.example.com/v1", transport: CurlTransport(loop: loop))
    let group = ServiceGroup(
        services: [loop, client, shop], gracefulShutdownSignals: [.sigterm], logger: Logger(label: "shop")
    )
    try await group.run()
}

struct Shop: Service {
    let client: Client

    func run() async throws { try await client.run(endingRequestsWithin: .seconds(5)) }
}

func shutDown(_ client: Client) async throws {
    try await client.shutDown(within: .seconds(20)).value()
}
#endif
