import Foundation
import RxJSON
import RxNetworking
import RxTesting

func threeWays(client: Client, search: Signal<String>) async throws {
    let goods = try await client.get("/goods/7").decode(Goods.self).value()
    show(goods)

    client.get("/goods/7").decode(Goods.self)
        .subscribe(onNext: { goods in show(goods) }, onFailure: { error in show(error.message) })

    search
        .debounce(.milliseconds(300))
        .flatMap(.latest) { keyword in client.request(GoodsList(keyword: keyword)) }
        .subscribe(onNext: { goods in show(goods) }, onFailure: { error in show(error.message) })
}

func decodeQuickly(bytes: [UInt8]) throws {
    let goods = try JSONDecoder().decode([Goods].self, quicklyFrom: bytes)
    show(goods)
}
