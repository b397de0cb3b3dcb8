import RxNetworking

/// What the demo shop sells.
struct Goods: Decodable, Sendable {
    let id: Int
    let name: String
    let price: Double
}

/// One page of what the demo shop sells.
struct GoodsPage: Decodable, Sendable {
    let list: [Goods]
    let total: Int
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
}

extension Envelope {
    /// How the demo shop wraps its answers: `{"errcode":200,"msg":"ok","data":…}`.
    static let shop = Envelope(code: "errcode", message: "msg", payload: "data", success: 200)
}

extension Client {
    /// A client of the demo shop.
    static func shop(_ baseURL: String, session: Session? = nil) -> Client {
        var configuration = ClientConfiguration()
        configuration.envelope = .shop
        configuration.session = session
        return Client(baseURL: baseURL, configuration: configuration)
    }

    /// The server's own counts.
    func statistics() async throws -> Statistics? {
        try await get("/stats").decode(Statistics.self).first()
    }
}
