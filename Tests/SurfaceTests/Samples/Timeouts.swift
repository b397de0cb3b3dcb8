import RxNetworking

func limitTheTime() {
    var configuration = ClientConfiguration()
    configuration.options.timeouts = Timeouts(
        connect: .seconds(5), firstByte: .seconds(15), total: .seconds(30))
    show(configuration)
}

struct YearlyReport: Endpoint {
    struct Output: Decodable, Sendable { let pages: Int }
    let path = "/reports/2025"
    let method = HTTPRequest.Method.post
    let options = RequestOptions(timeouts: Timeouts(firstByte: .seconds(300)))
}
