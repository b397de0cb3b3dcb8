import Synchronization
import TestServers

/// A server whose token expires at random, and which records violations by its clients.
///
/// A request names itself in its path, and the field `X-Known` has the token that was stored when it was
/// subscribed to.
final class TokenJudge: Sendable {
    struct Verdict {
        var logins = 0
        /// Logins while the token was valid.
        var needlessLogins = 0
        var expiries = 0
        /// Different requests that succeeded.
        var served = 0
        var servedTwice = 0
        /// Requests that were refused although they had another token after an earlier refusal.
        var secondRefusals = 0
        /// Requests sent with an older token than the client had stored by then.
        var deadTokens: [String] = []
    }

    private struct Contents {
        var verdict = Verdict()
        /// Counts the tokens; the first is g0.
        var generation = 0
        var isExpired = false
        var dice: UInt64
        var served: Set<String> = []
        /// The generations with which a request has been refused since its last subscription.
        var refused: [String: Int] = [:]

        /// A token expires once in 200 requests (xorshift64).
        mutating func rollExpiry() {
            dice ^= dice << 13
            dice ^= dice >> 7
            dice ^= dice << 17
            guard dice % 200 == 0 else { return }
            isExpired = true
            verdict.expiries += 1
        }
    }

    private let contents: Mutex<Contents>

    init(seed: UInt64) { contents = Mutex(Contents(dice: seed)) }

    var verdict: Verdict { contents.withLock { $0.verdict } }

    func answer(_ request: RawServer.Request) -> [RawServer.Step] {
        contents.withLock { contents in
            if request.target == "/login" { return [logIn(&contents)] }
            let isServed = serve(request, &contents)
            return [isServed ? .respond(body: "\"\(request.target)\"") : .respond(401)]
        }
    }

    private func logIn(_ contents: inout Contents) -> RawServer.Step {
        contents.verdict.logins += 1
        if !contents.isExpired { contents.verdict.needlessLogins += 1 }
        contents.isExpired = false
        contents.generation += 1
        return .respond(body: #"{"token":"g\#(contents.generation)"}"#)
    }

    private func serve(_ request: RawServer.Request, _ contents: inout Contents) -> Bool {
        let name = request.target
        let carried = generation(of: request.field("Authorization")?.split(separator: " ").last)
        let known = generation(of: request.field("X-Known")?[...])
        let before = contents.refused[name]
        // A replay comes after a renewal, which was stored before it.
        if carried < max(known, before.map { $0 + 1 } ?? 0) {
            contents.verdict.deadTokens.append("\(name): g\(carried), known g\(known)")
        }
        guard carried == contents.generation, !contents.isExpired else {
            if before != nil { contents.verdict.secondRefusals += 1 }
            // A request that is refused twice is subscribed to again.
            contents.refused[name] = before == nil ? carried : nil
            return false
        }
        contents.refused[name] = nil
        if contents.served.insert(name).inserted {
            contents.verdict.served += 1
        } else {
            contents.verdict.servedTwice += 1
        }
        contents.rollExpiry()
        return true
    }

    private func generation(of token: Substring?) -> Int {
        token.flatMap { Int($0.dropFirst()) } ?? -1
    }
}
