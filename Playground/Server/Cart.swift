import Synchronization

/// The body of `POST /cart` and `POST /orders`.
struct Choice: Decodable, Equatable {
    var goods: Int
    var number: Int
}

/// The goods that a user has selected.
struct Cart: Encodable {
    struct Line: Encodable {
        var goods: Int
        var name: String
        var number: Int
    }

    var lines: [Line]
    var price: Double
}

/// The carts of all users.
final class Carts: Sendable {
    private let numbers = Mutex<[String: [Int: Int]]>([:])

    func cart(of user: String) -> Cart { Self.cart(numbers.withLock { $0[user] ?? [:] }) }

    /// Adds goods; refuses unknown goods, and more than are in stock.
    func add(_ choice: Choice, for user: String) throws(Refusal) -> Cart {
        let goods = try Goods.find(choice.goods)
        guard (1...1000).contains(choice.number) else { throw .invalid("number must be from 1 to 1000") }
        let cart = numbers.withLock { numbers -> [Int: Int]? in
            let number = numbers[user]?[goods.id, default: 0] ?? 0
            guard number + choice.number <= goods.stock else { return nil }
            numbers[user, default: [:]][goods.id] = number + choice.number
            return numbers[user]
        }
        guard let cart else {
            throw Refusal(errcode: 10409, msg: "only \(goods.stock) of \(goods.name) are in stock")
        }
        return Self.cart(cart)
    }

    func empty(for user: String) { numbers.withLock { $0[user] = nil } }

    private static func cart(_ numbers: [Int: Int]) -> Cart {
        let lines = Goods.all.compactMap { goods in
            numbers[goods.id].map { Cart.Line(goods: goods.id, name: goods.name, number: $0) }
        }
        let price = lines.reduce(0) { $0 + Goods.all[$1.goods - 1].price * Double($1.number) }
        return Cart(lines: lines, price: price)
    }
}

extension Goods {
    static func find(_ id: Int?) throws(Refusal) -> Goods {
        guard let goods = all.first(where: { $0.id == id }) else {
            throw .notFound("no goods have the id \(id.map(String.init) ?? "given")")
        }
        return goods
    }
}
