import RxNetworking

struct Advice: Endpoint {
    typealias Output = [String]
    let path = "/advice"
    let options = RequestOptions(server: .standby)
}

func haveTwoServers() {
    var configuration = ClientConfiguration()
    configuration.standbyURL = "https://standby.example.com/v1"
    let client = Client(baseURL: "https://api.example.com/v1", configuration: configuration)

    client.request(Advice()).subscribe(onNext: { texts in show(texts) })
    show(client)
}

func switchServers(_ client: Client) {
    client.servers.main = "https://staging.example.com/v1"
    client.servers.use(.standby)
}

func failOver() {
    var configuration = ClientConfiguration()
    configuration.standbyURL = "https://standby.example.com/v1"
    configuration.failover = Failover(probeInterval: .seconds(30))
    let client = Client(baseURL: "https://api.example.com/v1", configuration: configuration)

    client.servers.active.observable.subscribe { server in
        print(server == .main ? "at the main server" : "at the standby server")
    }
}

func failOverByHand(_ client: Client, _ goods: GoodsList) {
    client.response(goods, from: .main)
        .failover(to: client.response(goods, from: .standby), through: client.servers)
        .decode([Goods].self)
        .subscribe(onNext: { goods in show(goods) })
}
