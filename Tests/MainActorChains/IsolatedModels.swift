import RxNetworking

// A model that belongs to the main actor, including its decoding, is decoded there: after the await, by the
// response.

struct CartLine: Decodable {
    let goods: Int
    var count: Int
}

struct CartContent: Endpoint {
    typealias Output = Response
    let path = "/cart"
}

func isolatedModels(client: Client) async throws(NetworkError) -> [CartLine] {
    let first = try await client.get("/cart/1").value().decode(CartLine.self)
    let all = try await client.request(CartContent()).value().decode([CartLine].self)
    return [first] + all
}
