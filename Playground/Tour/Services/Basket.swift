import RxNetworking

extension Client {
    /// What is about to be bought.
    var basket: Basket { Basket(client: self) }
}

/// The module for what is about to be bought.
struct Basket: Sendable {
    let client: Client

    /// What is in it.
    func content() -> Observable<Cart, NetworkError> { client.get("/cart").decode(Cart.self) }

    /// Puts something in.
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
