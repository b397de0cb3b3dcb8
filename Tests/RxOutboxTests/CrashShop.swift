#if Outbox
import Foundation
import RxTesting
import Synchronization
import TestServers

/// A server that executes orders by the rules of a ``KeyLedger``, refuses some requests, and keeps some answers to itself.
final class CrashShop: Sendable {
    /// The memory of the server.
    enum Kind: String, Sendable {
        /// It keeps keys longer than any run.
        case stripe
        /// It forgets keys after their life. The answers to some orders never get through, so that their keys grow old.
        case forgetful

        /// The life of a key, which the probe's rules name as well.
        var lifetime: Duration { self == .stripe ? .seconds(24 * 3600) : .seconds(4) }
    }

    let ledger: KeyLedger
    let server: RawServer

    /// Whether no answer to this order gets through.
    static func isMute(_ number: Int, _ kind: Kind) -> Bool { kind == .forgetful && number % 29 == 7 }

    init(_ kind: Kind, seed: UInt64) throws {
        let random = Mutex(SeededRandom(seed))
        let ledger = KeyLedger(lifetime: kind.lifetime)
        self.ledger = ledger
        let start = ContinuousClock.now
        server = try RawServer { request in
            let (mood, luck) = random.withLock {
                (Int.random(in: 0..<24, using: &$0), Int.random(in: 0..<60, using: &$0))
            }
            // Before anything is executed.
            if mood == 0 { return [Self.answer("503 Busy")] }
            if mood == 1 { return [.reset] }
            let course: KeyLedger.Course =
                switch luck {
                case 0: .broken
                case 1..<5: .slow(conflicts: 2)
                default: .executed
                }
            let reply = ledger.receive(
                key: request.field("Idempotency-Key"), body: request.body, at: ContinuousClock.now - start,
                course)
            // Executed, and the answer is lost, as a whole or in part.
            if mood == 2 { return [.reset] }
            if mood == 3 {
                return [.send(Array("HTTP/1.1 200 OK\r\nContent-Length: 90\r\n\r\n{".utf8)), .close]
            }
            switch reply {
            case .done(let number):
                if Self.isMute(number, kind) { return [.reset] }
                return [Self.answer("200 OK", "{\"number\":\(number)}")]
            case .inProgress: return [Self.answer("409 Conflict")]
            case .otherBody, .missingKey: return [Self.answer("400 Bad Request")]
            case .serverError: return [Self.answer("500 Internal Server Error")]
            }
        }
    }

    private static func answer(_ status: String, _ body: String = "") -> RawServer.Step {
        .send(
            Array(
                "HTTP/1.1 \(status)\r\nContent-Type: application/json\r\nContent-Length: \(body.utf8.count)\r\n\r\n\(body)"
                    .utf8))
    }
}
#endif
