#if Outbox
import Foundation
import RxTesting
import Synchronization

/// A server's memory of idempotency keys, by Stripe's rules, and the orders that it has executed.
final class KeyLedger: Sendable {
    /// The reply to a request.
    enum Reply: Equatable {
        /// The order has been executed, now or before.
        case done(number: Int)
        case inProgress
        case otherBody
        case missingKey
        case serverError
    }

    struct Execution: Equatable {
        let number: Int
        let account: String
        let key: String
    }

    private struct Contents {
        var executions: [Execution] = []
        var keys: [String: (body: String, number: Int, date: Duration)] = [:]
    }

    private let contents = Mutex(Contents())
    /// How long keys are remembered.
    private let lifetime: Duration

    init(lifetime: Duration = .seconds(24 * 3600)) { self.lifetime = lifetime }

    /// The executions in their order.
    var executions: [Execution] { contents.withLock { $0.executions } }

    /// The numbers of the executed orders, in their order.
    var numbers: [Int] { executions.map(\.number) }

    /// Executes an order, unless its key is known.
    func receive(key: String?, body: [UInt8], at date: Duration = .zero) -> Reply {
        guard let key else { return .missingKey }
        struct Order: Decodable {
            var number: Int
            var account: Int?
        }
        guard let order = try? JSONDecoder().decode(Order.self, from: Data(body)) else { return .otherBody }
        let text = String(decoding: body, as: UTF8.self)
        return contents.withLock { contents in
            if let known = contents.keys[key], date - known.date < lifetime {
                return known.body == text ? .done(number: known.number) : .otherBody
            }
            contents.keys[key] = (text, order.number, date)
            contents.executions.append(
                Execution(number: order.number, account: order.account.map { "\($0)" } ?? "", key: key))
            return .done(number: order.number)
        }
    }
}
#endif
