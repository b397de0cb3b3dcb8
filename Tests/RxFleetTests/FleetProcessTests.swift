#if Fleet
import Foundation
import RxTesting
import TestServers
import Testing

/// Processes that share a login over a store, and are killed, stopped, and lose responses.
@Suite(.timeLimit(.minutes(120))) struct FleetProcessTests {
    /// How often the credential expires; Tests/fleet.sh sets more.
    private static let expiryCount = environment("FLEET_EXPIRIES").flatMap { Int($0) } ?? 30
    private static let seed = environment("FLEET_SEED").flatMap { UInt64($0) } ?? 1

    private static func environment(_ name: String) -> String? {
        ProcessInfo.processInfo.environment[name]
    }

    /// What happens in one expiry.
    private enum Disturbance: CaseIterable {
        case none, lostReply, unavailable, killedAfter, killedBefore, stoppedHolder, stoppedOther, killedOther

        var fault: FamilyServer.Fault {
            switch self {
            case .none, .stoppedOther, .killedOther: .none
            case .lostReply: .lost
            case .unavailable: .unavailable
            case .killedAfter, .stoppedHolder: .heldAfter
            case .killedBefore: .heldBefore
            }
        }

        /// The logins that it may make necessary: the refresh token may have been used, and must not be used again.
        var logins: ClosedRange<Int> {
            switch self {
            case .none, .unavailable: 0...0
            case .lostReply, .killedAfter, .killedBefore, .stoppedHolder: 1...1
            // It may be the one that renews.
            case .killedOther, .stoppedOther: 0...1
            }
        }
    }

    private struct Fleet {
        let place: String
        let shop: FamilyServer
        var random: SeededRandom
        var processes: [ChildProcess] = []
        var events: [String: Int] = [:]
        var answers: [String: Int] = [:]
        /// The outcomes of the current expiry.
        var outcomes: [String] = []

        init(_ place: String, count: Int, seed: UInt64) async throws {
            self.place = place
            shop = try FamilyServer()
            random = SeededRandom(seed)
            for number in 0..<count { processes.append(try start(number)) }
            for number in 0..<count { try await expectReady(number) }
        }

        private func start(_ number: Int) throws -> ChildProcess {
            try ChildProcess(
                ChildProcess.product("fleet-probe"), [place, shop.server.baseURL, "p\(number)"])
        }

        mutating func replace(_ number: Int) async throws {
            let record = try await processes[number].kill()
            #expect(record.errorText.isEmpty, "\(record.errorText)")
            processes[number] = try start(number)
            try await expectReady(number)
        }

        private func expectReady(_ number: Int) async throws {
            let line = try await processes[number].nextLine()
            try #require(line == "ready", "\(line ?? "nothing")")
        }

        /// The outcome of a request, after the events before it; `nil` if the process has ended.
        mutating func outcome(of number: Int, _ name: String) async throws -> String? {
            while let line = try await processes[number].nextLine() {
                if line.hasPrefix("event ") {
                    events[String(line.dropFirst("event ".count)), default: 0] += 1
                } else if line.hasPrefix(name + " ") {
                    return String(line.dropFirst(name.count + 1))
                }
            }
            return nil
        }

        func request(_ numbers: some Sequence<Int>, _ name: String) throws {
            for number in numbers { try processes[number].write(name + "\n") }
        }

        /// The process whose renewal the server holds.
        func holder() async throws -> Int {
            let name = try await shop.board.until { $0.held }
            return try #require(Int(name.dropFirst()))
        }

        /// Lets the server go on.
        func letGo() {
            let gate = shop.board.update { state in
                defer { (state.held, state.gate) = (nil, nil) }
                return state.gate
            }
            gate?.open()
        }

        /// One expiry of the credential.
        mutating func expire(_ round: Int, _ disturbance: Disturbance) async throws {
            let name = "r\(round)"
            outcomes = []
            shop.board.update { state in
                state.access = []
                state.fault = disturbance.fault
            }
            let before = shop.board.contents
            let all = processes.indices.shuffled(using: &random)
            try request(all, name)
            var waiting = Set(all)
            switch disturbance {
            case .none, .lostReply, .unavailable: break
            case .killedAfter, .killedBefore:
                let holder = try await holder()
                waiting.remove(holder)
                try await replace(holder)
                letGo()
            case .stoppedHolder:
                let holder = try await holder()
                processes[holder].stop()
                letGo()
                waiting.remove(holder)
                for number in waiting { try await expectOutcome(of: number, name, disturbance) }
                waiting = [holder]
                processes[holder].resume()
            case .stoppedOther:
                // It may be the one that renews; then the others wait for the end of its lease.
                processes[all[0]].stop()
                for number in waiting.subtracting([all[0]]) {
                    try await expectOutcome(of: number, name, disturbance)
                }
                waiting = [all[0]]
                processes[all[0]].resume()
            case .killedOther:
                waiting.remove(all[0])
                try await replace(all[0])
            }
            for number in waiting { try await expectOutcome(of: number, name, disturbance) }
            try check(since: before, disturbance, round)
        }

        private mutating func expectOutcome(
            of number: Int, _ name: String, _ disturbance: Disturbance
        ) async throws {
            let outcome = try #require(try await outcome(of: number, name), "p\(number) has ended")
            outcomes.append("p\(number) \(outcome)")
            let kind = outcome.split(separator: ":")[0].split(separator: " ").prefix(2).joined(separator: " ")
            answers["\(disturbance) \(kind)", default: 0] += 1
            #expect(!outcome.contains("totalTimeout"), "a waiter is lost: \(outcome)")
        }

        /// Checks one expiry: one renewal, or a login where the refresh token may have been used.
        private mutating func check(
            since before: FamilyServer.State, _ disturbance: Disturbance, _ round: Int
        ) throws {
            let after = shop.board.contents
            let (rotations, logins) = (after.rotations - before.rotations, after.logins - before.logins)
            let text =
                "\(round) \(disturbance): \(rotations) renewals, \(logins) logins, \(events), \(outcomes)"
            #expect(after.revocations.isEmpty, "\(text)")
            #expect(after.outdated.isEmpty, "\(after.outdated)")
            #expect(rotations <= 1, "\(text)")
            #expect(rotations + logins >= 1, "\(text)")
            // A process that is stopped in the middle of a write holds up the others until they give up.
            let isHeldUp = outcomes.contains { $0.contains("failed locked") }
            #expect(!isHeldUp || disturbance == .stoppedHolder || disturbance == .stoppedOther, "\(text)")
            if isHeldUp { answers["held up", default: 0] += 1 }
            #expect(disturbance.logins.contains(logins) || isHeldUp && logins <= 1, "\(text)")
        }
    }

    /// One renewal for each expiry, or a login where its response was lost; nobody waits in vain, and no refresh token is sent
    /// twice.
    @Test func expiries() async throws {
        let folder = try TemporaryFolder()
        try await run(over: Self.environment("FLEET_STORE") ?? folder.file("fleet"))
    }

    /// The same expiries over Redis; `Tests/services.sh` installs it.
    @Test(.enabled(if: RedisServer.isInstalled)) func expiriesOverRedis() async throws {
        let server = try await RedisServer()
        try await run(over: "redis://127.0.0.1:\(server.port)")
    }

    private func run(over place: String) async throws {
        var fleet = try await Fleet(place, count: 8, seed: Self.seed)
        // The first login.
        try fleet.request(0..<8, "first")
        for number in 0..<8 { #expect(try await fleet.outcome(of: number, "first") == "200") }
        #expect(fleet.shop.board.contents.logins == 1)
        var counts: [String: Int] = [:]
        for round in 0..<Self.expiryCount {
            // Each at least once in a short run.
            let all = Disturbance.allCases
            let disturbance =
                round < all.count
                ? all[round]
                : Bool.random(using: &fleet.random)
                    ? .none : all[Int.random(in: 0..<all.count, using: &fleet.random)]
            counts["\(disturbance)", default: 0] += 1
            try await fleet.expire(round, disturbance)
        }
        let end = fleet.shop.board.contents
        print(
            "\(Self.expiryCount) expiries: \(end.rotations) renewals, \(end.logins - 1) logins; disturbances",
            counts.sorted { $0.key < $1.key }.map { "\($0.key) \($0.value)" }.joined(separator: ", "),
            "; answers",
            fleet.answers.sorted { $0.key < $1.key }.map { "\($0.key) \($0.value)" }.joined(separator: ", "),
            "; events", fleet.events)
        // All have the same credential in the end.
        try fleet.request(0..<8, "last")
        for number in 0..<8 { #expect(try await fleet.outcome(of: number, "last") == "200") }
    }
}
#endif
