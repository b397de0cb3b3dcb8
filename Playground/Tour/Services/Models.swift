/// An article of the shop.
struct Goods: Decodable, Equatable, Sendable {
    let id: Int
    let name: String
    let price: Double
}

/// One page of goods.
struct GoodsPage: Decodable, Sendable {
    let list: [Goods]
    let total: Int
}

/// The cart of a user.
struct Cart: Decodable, Sendable {
    struct Line: Decodable, Sendable {
        let goods: Int
        let name: String
        let number: Int
    }

    let lines: [Line]
    let price: Double
}

/// A picture as received by the shop.
struct Picture: Decodable, Sendable {
    let fileName: String
    let contentType: String
    let bytes: Int
}

/// An order.
struct Order: Decodable, Sendable {
    let id: Int
    let goods: String
    let quantity: Int
}

/// One page of orders.
struct OrdersPage: Decodable, Sendable {
    let list: [Order]
    let total: Int
}

/// The response to a login.
struct Login: Decodable, Sendable {
    let token: String
}

/// The counts of the server.
struct Statistics: Decodable, Sendable {
    let logins: Int
    let ordersPlaced: Int
    let ordersRepeated: Int
    let requests: [String: Int]
    let downloadsAborted: Int
    let downloadedBytes: Int

    /// The number of requests such as `GET /goods`.
    func count(_ request: String) -> Int { requests[request] ?? 0 }
}
