import RxNetworking
import Shop

let arguments = CommandLine.arguments.dropFirst()
guard let baseURL = arguments.first else { fatalError("usage: App BASE-URL [KEYWORD]") }

let client = Client(configuration: .shop(at: baseURL))
let search = GoodsSearch(keyword: arguments.dropFirst().first ?? "tea")

for goods in try await client.request(search).value() {
    print(goods.id, goods.name)
}
