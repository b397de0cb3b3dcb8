import RxNetworking

extension Client {
    /// The goods about to be bought.
    var cart: CartService { CartService(client: self) }
}

struct CartService: Sendable {
    let client: Client

    func content() -> Observable<Cart, NetworkError> { client.get("/cart").decode(Cart.self) }

    func add(_ goods: Int, count: Int = 1) -> Observable<Cart, NetworkError> {
        client.post("/cart", .json(["goods": goods, "count": count])).decode(Cart.self)
    }
}

func useAService(client: Client) async throws {
    let cart = try await client.cart.add(7).value()
    show(cart)
}
