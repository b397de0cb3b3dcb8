import RxNetworking

func declareAnEnvelope(_ configuration: inout ClientConfiguration) {
    configuration.options.envelope = Envelope(code: "errcode", message: "msg", payload: "data", success: 200)
}

func declareAnOddEnvelope(_ configuration: inout ClientConfiguration) {
    configuration.options.envelope = Envelope(
        code: ["errcode", "error.code"], message: ["msg", "error.text"], payload: "result.data",
        success: [0, "OK", .range(200...299)],
        loginExpired: [11010, "TOKEN_GONE"], noContent: 20404, retryLater: 50301, retryDelay: "error.seconds")
}

struct Status: Endpoint {
    typealias Output = [String: String]
    let path = "/status"
    let options = RequestOptions(envelope: .absent)
}

struct GoodsCount: Endpoint {
    typealias Output = Int
    let path = "/goods"
    let options = RequestOptions(part: "page.count")
}

func seeTheRawBody(_ client: Client) async throws {
    let result = try await client.typedResponse(GoodsCount()).value()
    print(result.output, result.response.text, result.serverMessage ?? "")
}

struct Terms: Endpoint {
    let path = "/terms"
    func output(from response: Response) -> String { response.text }
    let options = RequestOptions(contentTypes: ["text/*"])
}

func acceptPages(_ configuration: inout ClientConfiguration) {
    configuration.options.contentTypes = .json.or("text/html")
}

struct Shelf: Endpoint {
    typealias Output = [Goods]
    let path = "/shelf"

    func validate(_ response: TypedResponse<[Goods]>) throws(NetworkError) {
        if response.output.isEmpty { throw NetworkError(.noContent, "nothing to sell") }
    }
}

func chainByHand(
    _ client: Client, _ session: Session, _ envelope: Envelope, _ reachability: any Reachability,
    _ spinner: Accessory
) throws -> Observable<[Goods], NetworkError> {
    let request = try client.serialized(Shelf())
    let goods = session.authorize(request)
        .flatMap { request in client.exchange(request).response(to: request) }
        .checkStatus(envelope: envelope)
        .checkContentType(.json)
        .unwrap(envelope)
        .relogin(through: session)
        .retry(.exponentialBackoff(maxRetries: 2))
        .part("list")
        .decode([Goods].self)
        .validate { goods throws(NetworkError) in
            if goods.isEmpty { throw NetworkError(.noContent, "nothing to sell") }
        }
        .checkReachability(by: reachability)
        .accompanied(by: [spinner], as: request)
    return goods
}
