import Synchronization
import TestServers

/// A server whose token expires at random, and which holds against its clients what they should not have done.
///
/// A request names itself in its path, and says in `X-Known` which token was in the store when it was subscribed to.
final class TokenJudge: Sendable {
    struct Verdict {
        var logins = 0
        /// Logins while the token was good.
        var needlessLogins = 0
        var expiries = 0
        /// Different requests that were served.
        var served = 0
        var servedTwice = 0
        /// Requests that were refused though they came with another token after having been refused before.
        var secondRefusals = 0
        /// What was sent with an older token than the client had stored by then.
        var deadTokens: [String] = []
    }

    private struct Contents {
        var verdict = Verdict()
        /// Counts the tokens; the first is g0.
        var generation = 0
        var isExpired = false
        var dice: UInt64
        var served: Set<String> = []
        /// With which generations a request has been refused since it was last subscribed to.
        var refused: [String: Int] = [:]

        /// A token expires with one request of 200 (xorshift64).
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
            // Whoever is refused twice is subscribed to anew.
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
