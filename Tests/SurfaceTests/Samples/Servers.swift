import RxNetworking

struct Advice: Endpoint {
    typealias Output = [String]
    let path = "/advice"
    let options = RequestOptions(server: .standby)
}

func haveTwoServers() async throws {
    var configuration = ClientConfiguration()
    configuration.standbyURL = "https://standby.example.com/v1"
    let client = Client(baseURL: "https://api.example.com/v1", configuration: configuration)

    let texts = try await client.request(Advice()).value()
    show(texts)
}

func switchServers(_ client: Client) {
    client.servers.main = "https://staging.example.com/v1"
    client.servers.use(.standby)
}

func failOver() {
    var configuration = ClientConfiguration()
    configuration.standbyURL = "https://standby.example.com/v1"
    configuration.failoverProbeInterval = .seconds(30)
    let client = Client(baseURL: "https://api.example.com/v1", configuration: configuration)

    client.servers.active.subscribe { server in
        print(server == .main ? "at the main server" : "at the standby server")
    }
}

func failOverByHand(_ client: Client, _ goods: GoodsList) async throws {
    let list = try await client.response(goods, from: .main)
        .failover(to: client.response(goods, from: .standby), through: client.servers)
        .decode([Goods].self)
        .value()
    show(list)
}
