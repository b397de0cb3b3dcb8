import RxNetworking

#if Logging
func logged(client: Client) {
    client.traffic.log(to: Logger(label: "api"))
}

func loggedInPart(client: Client) {
    var style = TrafficLog()
    style.successLevel = .debug
    style.showsHeaders = true
    style.bodyLimit = 2000  // bytes of each body; none by default
    client.traffic.filter { $0.request.method != .get }
        .log(to: Logger(label: "changes"), as: style)
}
#endif

func kept() {
    var configuration = ClientConfiguration()
    configuration.secretFields = [HTTPField.Name("X-Device")!]
    configuration.secretParameters = ["iban"]
    let client = Client(baseURL: "https://api.example.com/v1", configuration: configuration)

    client.post("/login", .form(["user": "ada", "pin": "1815"]).hiding("pin"))
        .subscribe(onFailure: { print($0) })
}

func recorded(client: Client) {
    let recording = HARRecording(of: client.traffic, bodyLimit: 64 << 10)
    client.get("/goods").subscribe(onFinish: {
        if let document = try? recording.archive.encoded() { save(document) }
    })
}

func asCommands(client: Client) {
    client.traffic.subscribe(onNext: { event in
        if case .broken = event.kind { print(event.request.curlCommand()) }
    })
}

func measured(client: Client) {
    client.traffic.subscribe(onNext: { event in
        guard case .ended(let summary) = event.kind else { return }
        record(summary.duration, summary.status?.code, summary.attempts)
    })
}

private func save(_: some Sendable) {}
private func record(_: Duration, _: Int?, _: Int) {}
