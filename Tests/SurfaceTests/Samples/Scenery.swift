import RxNetworking

// The context of the samples in README and Docs: an app around them.

struct Goods: Decodable, Sendable {
    let name: String
}

struct NewGoods: Encodable, Sendable {
    let name: String
    let price: Double
}

struct Cart: Decodable, Sendable {}

struct Login: Decodable, Sendable {
    let token: String
}

struct GoodsPages: Endpoint {
    struct Output: Decodable, Sendable {
        let list: [Goods]
        let totalRow: Int
    }

    let path = "/goods"
}

struct GoodsList: Endpoint {
    typealias Output = [Goods]
    let keyword: String
    let path = "/mall/goods"
    var parameters: Parameters { .query(["keyword": keyword]) }
}

@MainActor
final class Screen: Sendable {
    func show(_: [Goods]) {}
    func spin(_: Bool) {}
    func tell(_: String) {}
    func fill(_: Double) {}
}

let user = "ada"
let password = "tea"
let screen = Screen()

func show(_: some Sendable) {}
func render(_: [Goods], _: PagingState<Goods>.Phase) {}
func showLoginScreen() {}
