import RxNetworking

struct Goods: Decodable, Sendable {
    let id: Int
    let name: String
}

let client = Client(baseURL: CommandLine.arguments[1])
do {
    for goods in try await client.get("/goods", query: ["keyword": "tea"]).decode([Goods].self).value() {
        print(goods.id, goods.name)
    }
} catch {
    print(error.code, error.message)
}
