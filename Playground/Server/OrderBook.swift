import FlyingFox
import Synchronization

/// The orders that have been placed, by their idempotency keys: the first request with a key is executed, another one
/// gets the response of the first.
final class OrderBook: Sendable {
    /// The response to `POST /orders`.
    struct Confirmation: Encodable {
        var id: Int
        var goods: String
        var number: Int
    }

    private struct Contents {
        var confirmations: [String: (choice: Choice, confirmation: Confirmation)] = [:]
        var placedCount = 0
    }

    private let contents = Mutex(Contents())

    /// Places an order, or repeats the confirmation of the key.
    ///
    /// - Returns: the confirmation, and whether it was repeated.
    func place(_ choice: Choice, key: String?) throws(Refusal) -> (Confirmation, isRepeated: Bool) {
        guard let key, !key.isEmpty else {
            throw Refusal(
                errcode: 10400, msg: "an order needs the header field Idempotency-Key", status: .badRequest)
        }
        let goods = try Goods.find(choice.goods)
        let result = contents.withLock { contents -> (Confirmation, Bool)? in
            if let known = contents.confirmations[key] {
                return known.choice == choice ? (known.confirmation, true) : nil
            }
            contents.placedCount += 1
            let confirmation = Confirmation(
                id: 1000 + contents.placedCount, goods: goods.name, number: choice.number)
            contents.confirmations[key] = (choice, confirmation)
            return (confirmation, false)
        }
        guard let result else {
            throw Refusal(
                errcode: 10409, msg: "the key belongs to another order", status: .badRequest)
        }
        return result
    }
}
