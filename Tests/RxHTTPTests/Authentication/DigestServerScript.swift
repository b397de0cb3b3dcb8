import HTTPTypes
import RxHTTP
import RxLite
import RxTesting
import Synchronization

/// A scripted server that requires a digest and verifies it.
final class DigestServerScript: Sendable {
    struct State {
        /// The number of requests sent with each valid nonce.
        var counts: [String: Set<String>] = ["n1": []]
        var issued = 1
        var challenges = 0
    }

    let state = Mutex(State())
    private let password: String
    /// The number of requests after which a nonce expires.
    private let usesOfNonce: Int
    private let namesNext: Bool

    init(password: String = "p", usesOfNonce: Int = .max, namesNext: Bool = false) {
        self.password = password
        self.usesOfNonce = usesOfNonce
        self.namesNext = namesNext
    }

    var challenges: Int { state.withLock { $0.challenges } }

    /// Forgets all nonces, like a restarted server.
    func forget() {
        state.withLock { state in
            state.issued += 1
            state.counts = ["n\(state.issued)": []]
        }
    }

    func answer(_ request: Request) -> ScriptedTransport.Reply {
        state.withLock { state in
            let values = Self.parameters(request.headerFields[.authorization])
            let nonce = values["nonce"] ?? ""
            let isRight = response(to: values, request) == values["response"] && !values.isEmpty
            // Each client has its own count.
            let use = (values["cnonce"] ?? "") + (values["nc"] ?? "")
            let isGood = state.counts[nonce]?.contains(use) == false
            if isRight, isGood, state.counts[nonce]?.count ?? 0 < usesOfNonce {
                state.counts[nonce]?.insert(use)
                var fields = HTTPFields()
                if namesNext {
                    state.issued += 1
                    state.counts = ["n\(state.issued)": []]
                    fields[HTTPField.Name("Authentication-Info")!] =
                        "qop=auth, nextnonce=\"n\(state.issued)\""
                }
                return .bytes(Array("well".utf8), headers: fields)
            }
            state.challenges += 1
            let isStale = isRight && state.counts[nonce] != nil
            if isStale {
                state.issued += 1
                state.counts = ["n\(state.issued)": []]
            }
            let challenge =
                "Digest realm=\"tea\", qop=\"auth\", nonce=\"n\(state.issued)\""
                + (isStale ? ", stale=true" : "")
            return .bytes(Array("no".utf8), status: .unauthorized, headers: [.wwwAuthenticate: challenge])
        }
    }

    private func response(to values: [String: String], _ request: Request) -> String {
        let secret = HexDigest.md5("anna:tea:\(password)".utf8)
        let sent = HexDigest.md5("\(request.method):\(values["uri"] ?? "")".utf8)
        return HexDigest.md5(
            "\(secret):\(values["nonce"] ?? ""):\(values["nc"] ?? ""):\(values["cnonce"] ?? ""):auth:\(sent)"
                .utf8)
    }

    private static func parameters(_ field: String?) -> [String: String] {
        var values: [String: String] = [:]
        for part in (field ?? "").dropFirst(7).split(separator: ", ") {
            let sides = part.split(separator: "=", maxSplits: 1)
            if sides.count == 2 { values[String(sides[0])] = sides[1].filter { $0 != "\"" } }
        }
        return values
    }
}
