import RxNetworking
import Shop

let arguments = CommandLine.arguments.dropFirst()
let baseURL = arguments.first ?? "http://localhost:8080"

let client = Client(configuration: .shop(at: baseURL))
let search = GoodsSearch(keyword: arguments.dropFirst().first ?? "tea")

for goods in try await client.request(search).value() {
    print(goods.id, goods.name)
}
