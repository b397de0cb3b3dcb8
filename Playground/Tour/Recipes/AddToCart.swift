import RxNetworking

extension Recipe {
    static let addToCart = Recipe(
        "Adding to the cart",
        "A chain of two requests; then an order above the stock, which gets status 200 and still fails."
    ) { stage in
        let shop = stage.app.client
        // Code
        let cart = shop.catalogue.goods(7).flatMap { goods in shop.basket.add(goods, number: 2) }
        let tooMany = shop.catalogue.goods(7).flatMap { goods in shop.basket.add(goods, number: 1000) }
        // Shown
        let (carts, _) = await stage.play(cart) { cart in
            cart.lines.map { "\($0.number) × \($0.name)" }.joined(separator: ", ") + " for \(cart.price)"
        }
        stage.expect(carts.first?.lines.first?.goods == 7, "the goods are in the cart")
        let (_, failure) = await stage.play(tooMany)
        stage.expect(
            failure?.code == .envelope && failure?.envelopeCode == "10409",
            "the shop refuses more than its stock")
        let after = try await shop.basket.content().value()
        stage.expect(after.price == carts.first?.price, "the refused goods are not in the cart")
        stage.result("\(after.lines.count) line for \(after.price); \(failure?.message ?? "no error")")
    }
}
