public import RxNetworking

/// One article of the shop.
public struct Goods: Decodable, Sendable, Equatable {
    public let id: Int
    public let name: String

    public init(id: Int, name: String) {
        self.id = id
        self.name = name
    }
}

/// `GET /goods?keyword=…`
public struct GoodsSearch: Endpoint {
    public typealias Output = [Goods]

    public let path = "/goods"
    public var parameters: Parameters { .query(["keyword": keyword]) }

    private let keyword: String

    public init(keyword: String) { self.keyword = keyword }
}
