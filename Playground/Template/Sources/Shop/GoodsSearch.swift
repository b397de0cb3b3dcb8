import RxNetworking

/// One article of the shop.
package struct Goods: Decodable, Sendable, Equatable {
    package let id: Int
    package let name: String

    package init(id: Int, name: String) {
        self.id = id
        self.name = name
    }
}

/// `GET /goods?keyword=…`
package struct GoodsSearch: Endpoint {
    package typealias Output = [Goods]

    package let path = "/goods"
    package var parameters: Parameters { .query(["keyword": keyword]) }

    private let keyword: String

    package init(keyword: String) { self.keyword = keyword }
}
