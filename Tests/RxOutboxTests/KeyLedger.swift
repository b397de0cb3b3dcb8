#if Outbox
import Foundation
import RxTesting
import Synchronization

/// A server's memory of idempotency keys, and the orders that it has executed. It applies Stripe's rules strictly: a key
/// with another body is refused, a key whose first request is still being processed is a conflict, and the stored answer
/// is repeated, a 500 too. After its life a key is forgotten, and the next request with it is executed again.
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

    /// The fate of a request with a new key.
    enum Course {
        case executed
        /// Executed, while so many further requests with the key are told that it is still being processed.
        case slow(conflicts: Int)
        /// Not executed; the answer is a 500, now and later.
        case broken
    }

    struct Execution: Equatable {
        let number: Int
        let account: String
        let key: String
    }

    fileprivate struct Record {
        var body: String
        var number: Int
        var date: Duration
        var conflicts = 0
        var isBroken = false
    }

    fileprivate struct Contents {
        var executions: [Execution] = []
        var keys: [String: Record] = [:]
        var broken: Set<Int> = []
        /// The first key of each order.
        var keysOfOrders: [Int: String] = [:]
        var violations: [String] = []
        var counts: [String: Int] = [:]
    }

    private let contents = Mutex(Contents())
    /// How long keys are remembered.
    private let lifetime: Duration

    init(lifetime: Duration = .seconds(24 * 3600)) { self.lifetime = lifetime }

    /// The executions in their order.
    var executions: [Execution] { contents.withLock { $0.executions } }

    /// The numbers of the executed orders, in their order.
    var numbers: [Int] { executions.map(\.number) }

    /// The orders that are not executed, since their keys are answered with 500.
    var broken: Set<Int> { contents.withLock { $0.broken } }

    /// Requests that no client may make: without a key, with another body than before, or with a second key for an order.
    var violations: [String] { contents.withLock { $0.violations } }

    /// How often a reply was given that shows a repetition: `repeated`, `conflict`, `500`.
    func count(of kind: String) -> Int { contents.withLock { $0.counts[kind, default: 0] } }

    /// Executes an order, unless its key is known.
    ///
    /// - Parameters:
    ///   - key: the key of the request.
    ///   - body: JSON with a `number` and perhaps an `account`.
    ///   - date: the time of the request.
    ///   - course: what becomes of the request if its key is new.
    func receive(
        key: String?, body: [UInt8], at date: Duration = .zero, _ course: Course = .executed
    ) -> Reply {
        struct Order: Decodable {
            var number: Int
            var account: Int?
        }
        let text = String(decoding: body, as: UTF8.self)
        return contents.withLock { contents in
            guard let key else {
                contents.violations.append("no key: \(text)")
                return .missingKey
            }
            guard let order = try? JSONDecoder().decode(Order.self, from: Data(body)) else {
                contents.violations.append("not an order: \(text)")
                return .otherBody
            }
            if contents.keysOfOrders[order.number, default: key] != key {
                contents.violations.append("order \(order.number) has two keys")
            }
            contents.keysOfOrders[order.number] = key
            if let known = contents.keys[key], date - known.date < lifetime {
                return contents.repetition(of: known, key, text)
            }
            var record = Record(body: text, number: order.number, date: date)
            defer { contents.keys[key] = record }
            switch course {
            case .broken:
                record.isBroken = true
                contents.broken.insert(order.number)
                return .serverError
            case .slow(let conflicts): record.conflicts = conflicts
            case .executed: break
            }
            contents.executions.append(
                Execution(number: order.number, account: order.account.map { "\($0)" } ?? "", key: key))
            return .done(number: order.number)
        }
    }
}

extension KeyLedger.Contents {
    fileprivate mutating func repetition(
        of known: KeyLedger.Record, _ key: String, _ body: String
    ) -> KeyLedger.Reply {
        guard known.body == body else {
            violations.append("\(key): \(body) after \(known.body)")
            return .otherBody
        }
        guard known.conflicts == 0 else {
            keys[key]?.conflicts -= 1
            counts["conflict", default: 0] += 1
            return .inProgress
        }
        counts[known.isBroken ? "500" : "repeated", default: 0] += 1
        return known.isBroken ? .serverError : .done(number: known.number)
    }
}
#endif
