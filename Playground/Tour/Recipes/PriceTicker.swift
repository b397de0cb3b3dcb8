import RxNetworking

extension Recipe {
    static let priceTicker = Recipe(
        "A price ticker",
        "A hundred prices a second arrive as events; a table of the latest ones is shown five times a second."
    ) { stage in
        let client = Client.shop(stage.baseURL, named: "prices")
        // Code
        struct Price: Decodable { let goods, cents: Int }

        let table = client.events(.get("/prices", query: ["every": 10]))
            .messages(of: Price.self, named: "price")
            .scan([Int: Int]()) { table, price in table.merging([price.goods: price.cents]) { $1 } }
            .sample(every: .milliseconds(200))
            .take(3)
        // Shown
        let (tables, error) = await stage.play(table) { table in
            table.sorted { $0.key < $1.key }
                .map { goods, cents in "\(goods): \(cents / 100).\(cents % 100 / 10)\(cents % 10)" }
                .joined(separator: "  ")
        }
        stage.expect(error == nil && tables.count == 3, "three tables are shown")
        stage.expect(
            tables.last?.keys.sorted() == [1, 2, 3, 4, 5], "the table has the prices of all goods")
        stage.expect(Set(tables).count == 3, "prices change")
        stage.result("\(tables.count) tables; cancelled after the last one")
    }
}
