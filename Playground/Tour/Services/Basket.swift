import RxNetworking

extension Client {
    /// The cart module.
    var basket: Basket { Basket(client: self) }
}

/// The module for the user's cart.
struct Basket: Sendable {
    let client: Client

    /// The content of the cart.
    func content() -> Observable<Cart, NetworkError> { client.get("/cart").decode(Cart.self) }

    /// Adds goods to the cart.
    func add(_ goods: Goods, number: Int = 1) -> Observable<Cart, NetworkError> {
        client.request(AddToCart(goods: goods.id, number: number))
    }
}

private struct AddToCart: Endpoint {
    typealias Output = Cart
    let goods: Int
    let number: Int
    let path = "/cart"
    let method = HTTPRequest.Method.post
    var parameters: Parameters { .json(["goods": goods, "number": number]) }
}
