/// Something that the shop sells.
struct Goods: Decodable, Equatable, Sendable {
    let id: Int
    let name: String
    let price: Double
}

/// One page of what the shop sells.
struct GoodsPage: Decodable, Sendable {
    let list: [Goods]
    let total: Int
}

/// What is about to be bought.
struct Cart: Decodable, Sendable {
    struct Line: Decodable, Sendable {
        let goods: Int
        let name: String
        let number: Int
    }

    let lines: [Line]
    let price: Double
}

/// A picture as the shop has got it.
struct Picture: Decodable, Sendable {
    let fileName: String
    let contentType: String
    let bytes: Int
}

/// What has been ordered.
struct Order: Decodable, Sendable {
    let id: Int
    let goods: String
    let quantity: Int
}

/// What logging in gives.
struct Login: Decodable, Sendable {
    let token: String
}

/// What the server has counted.
struct Statistics: Decodable, Sendable {
    let logins: Int
    let requests: [String: Int]
    let downloadsAborted: Int
    let downloadedBytes: Int

    /// How often something was asked for, such as `GET /goods`.
    func count(_ request: String) -> Int { requests[request] ?? 0 }
}
