#if Fleet
import FoundationEssentials
import TestServers

/// A server on loopback with refresh tokens that are valid once: a second use revokes the login (RFC 9700 §4.14.2). Access
/// tokens are `t` and a number, which grows.
final class FamilyServer: Sendable {
    /// The fault of the next request for a renewal.
    enum Fault: Sendable, CaseIterable {
        case none
        /// The tokens are replaced, and the response is lost.
        case lost
        /// The server refuses, and nothing is replaced.
        case unavailable
        /// The response is kept until the test has let it go; the tokens are replaced.
        case heldAfter
        /// The request is kept until the test has let it go; then its connection is reset, and nothing is replaced.
        case heldBefore
    }

    struct State: Sendable {
        var number = 0
        var access: Set<Int> = []
        var valid: Set<Int> = []
        var used: Set<Int> = []
        var rotations = 0
        var logins = 0
        /// The refresh tokens that were used twice.
        var revocations: [Int] = []
        /// Requests with an older token than their process had.
        var outdated: [String] = []
        var fault = Fault.none
        /// The process whose renewal is held.
        var held: String?
        var gate: Gate?

        mutating func issue() -> String {
            number += 1
            access = [number]
            valid = [number]
            return #"{"token": "t\#(number)", "refresh": "r\#(number)"}"#
        }
    }

    let board = Board(State())
    let server: RawServer

    init() throws {
        let board = board
        server = try RawServer { request in
            let parts = request.target.split(separator: "?", maxSplits: 1).map(String.init)
            var query: [String: String] = [:]
            for item in (parts.count > 1 ? parts[1] : "").split(separator: "&") {
                let pair = item.split(separator: "=", maxSplits: 1).map(String.init)
                if pair.count == 2 { query[pair[0]] = pair[1] }
            }
            let (process, seen) = (query["process"] ?? "", Int(query["seen"] ?? "") ?? 0)
            return board.update { state in
                switch parts[0] {
                case "/token":
                    let number = Int(request.text.dropFirst("refresh_token=r".count)) ?? 0
                    return Self.renew(number, for: process, &state)
                case "/login":
                    state.logins += 1
                    return [.respond(200, ["Content-Type": "application/json"], body: state.issue())]
                default:
                    let number = Int((request.field("Authorization") ?? "").dropFirst("Bearer t".count)) ?? 0
                    if number < seen {
                        state.outdated.append("\(process) has sent t\(number), and had t\(seen)")
                    }
                    let status = state.access.contains(number) ? 200 : 401
                    return [.respond(status, ["Content-Type": "application/json"], body: "1")]
                }
            }
        }
    }

    private static func renew(_ number: Int, for process: String, _ state: inout State) -> [RawServer.Step] {
        let fault = state.fault
        state.fault = .none
        let json: KeyValuePairs = ["Content-Type": "application/json"]
        switch fault {
        case .unavailable: return [.respond(503)]
        case .heldBefore:
            guard let gate = try? Gate() else { return [.reset] }
            (state.held, state.gate) = (process, gate)
            return [.wait(gate), .reset]
        case .none, .lost, .heldAfter: break
        }
        guard state.valid.contains(number) else {
            if state.used.contains(number) {
                state.revocations.append(number)
                (state.valid, state.access) = ([], [])
            }
            return [.respond(400, json, body: #"{"error": "invalid_grant"}"#)]
        }
        state.used.insert(number)
        state.rotations += 1
        let body = state.issue()
        switch fault {
        case .lost: return [.reset]
        case .heldAfter:
            guard let gate = try? Gate() else { return [.reset] }
            (state.held, state.gate) = (process, gate)
            return [.wait(gate), .respond(200, json, body: body)]
        default: return [.respond(200, json, body: body)]
        }
    }
}
#endif
