/// An article of the shop.
struct Goods: Encodable {
    var id: Int
    var name: String
    var price: Double
    var stock: Int

    /// 47 articles, so that the last of five pages of ten is short.
    static let all: [Goods] = {
        let kinds = ["Assam", "Sencha", "Oolong", "Matcha", "Darjeeling", "Rooibos", "Chamomile"]
        let packs = ["tin", "box", "sampler", "pouch", "brick", "gift set", "chest"]
        return (1...47).map { id in
            Goods(
                id: id, name: "\(kinds[id % 7]) \(packs[id / 7 % 7])", price: Double(id * 25 % 900) / 20 + 2,
                stock: id * 37 % 100)
        }
    }()
}

/// A page of a list, with the numbers from which a client knows whether there are more.
struct ShopPage<Item: Encodable>: Encodable {
    var list: [Item]
    var page: Int
    var pageSize: Int
    var total: Int

    init(of all: [Item], _ page: Int, _ pageSize: Int) {
        list = Array(all.dropFirst((page - 1) * pageSize).prefix(pageSize))
        (self.page, self.pageSize, total) = (page, pageSize, all.count)
    }
}

/// An order of a user.
struct Order: Encodable {
    var id: Int
    var user: String
    var goods: String
    var quantity: Int

    static func orders(of user: String) -> [Order] {
        (1...20).map { Order(id: $0, user: user, goods: Goods.all[$0 * 2].name, quantity: $0 % 4 + 1) }
    }
}
