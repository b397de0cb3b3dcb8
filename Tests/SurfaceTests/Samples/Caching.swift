import RxNetworking

func asTheServerSays() {
    var configuration = ClientConfiguration(baseURL: "https://api.example.com/v1")
    configuration.options.cachePolicy = .http
    let client = Client(baseURL: configuration.baseURL, configuration: configuration)
    show(client)
}

struct Categories: Endpoint {
    typealias Output = [String]
    let path = "/categories"
    let options = RequestOptions(cachePolicy: .time(.seconds(600)))
}

struct Search: Endpoint {
    typealias Output = [Goods]
    let words: String
    let path = "/search"
    let method = HTTPRequest.Method.post
    var parameters: Parameters { .json(["words": words, "inStock": true]) }
    let options = RequestOptions(cachePolicy: .post(.seconds(60)))
}

func oneRequest(client: Client) async throws {
    let response = try await client.get("/goods/1", options: RequestOptions(cacheMode: .reload)).value()
    print(response.isFromCache)
}

func clearing(client: Client) async throws {
    let cache = client.configuration.cache
    let count = try await cache.remove(.anyQuery(of: "https://api.example.com/v1/goods")).value()
    cache.remove(.tag("cart")).subscribe()
    cache.remove(.all).subscribe()
    print(count, cache.statistics.hits, cache.statistics.misses, cache.statistics.usage.bytes)
}

func anotherSize(configuration: inout ClientConfiguration) {
    configuration.cache = ResponseCache(store: MemoryCacheStore(limit: 8 << 20))
}

func cachedByHand(client: Client, cache: ResponseCache, request: Request) async throws {
    let response = try await cache.response(to: request) { request in
        client.exchange(request).response(to: request)
    }
    .value()
    print(response.status, response.isFromCache)
}
