#if Fleet
import Foundation
import RxSimulation
import RxTesting
import TestServers
import Testing

/// Processes that share a login over a store, while they are killed, stopped and cut off, responses are lost, and the store
/// itself is killed. Tests/fleet.sh runs them longer.
@Suite(.timeLimit(.minutes(180))) struct FleetProcessTests {
    private static let expiryCount = environment("FLEET_EXPIRIES").flatMap { Int($0) } ?? 50
    private static let seed = environment("FLEET_SEED").flatMap { UInt64($0) } ?? 1

    private static func environment(_ name: String) -> String? {
        ProcessInfo.processInfo.environment[name]
    }

    /// One renewal for each expiry, or a login where its response was lost; nobody waits in vain, and no refresh token is sent
    /// twice.
    @Test(.disabled(if: environment("FLEET_STORE")?.contains("://") == true)) func expiries() async throws {
        let folder = try TemporaryFolder()
        let place = Self.environment("FLEET_STORE") ?? folder.file("fleet")
        var run = try await ExpiryRun(over: .named(place), seed: Self.seed)
        try await run.go(Self.expiryCount, Disturbance.allCases.filter { !$0.needsRedis })
        print("file:", run.summary)
    }

    /// The same over a Redis that keeps its data; `Tests/services.sh` installs it. It is killed, its clock is set, and
    /// processes are cut off from it.
    @Test(.enabled(if: RedisServer.isInstalled)) func expiriesOverRedis() async throws {
        if let place = Self.environment("FLEET_STORE"), place.contains("://") {
            var run = try await ExpiryRun(over: .named(place), seed: Self.seed)
            try await run.go(Self.expiryCount, Disturbance.allCases.filter { !$0.needsRedis })
            return print("\(place):", run.summary)
        }
        let server = try await RedisServer(RedisServer.persistence)
        var run = try await ExpiryRun(over: .redis(server), seed: Self.seed)
        try await run.go(Self.expiryCount, Disturbance.allCases.filter { $0 != .storeEmptied })
        print("Redis:", run.summary)
    }

    /// A Redis without persistence loses all when it is killed: a login follows, and no login is revoked.
    @Test(.enabled(if: RedisServer.isInstalled && environment("FLEET_STORE") == nil))
    func expiriesOverForgetfulRedis() async throws {
        let server = try await RedisServer()
        var run = try await ExpiryRun(over: .redis(server), seed: Self.seed)
        try await run.go(max(4, Self.expiryCount / 10), [.none, .storeEmptied, .lostReply])
        print("Redis without persistence:", run.summary)
    }
}

/// The fault of one expiry.
private enum Disturbance: CaseIterable {
    case none, lostReply, unavailable, killedAfter, killedBefore, stoppedHolder, stoppedOther, killedOther
    /// The clock of a process is set.
    case clockSet
    /// The process that renews cannot reach the store, or another one.
    case cutHolder, cutOther
    /// The store is killed and started again: at once, or while a renewal is in flight; or that loses its data.
    case storeKilled, storeKilledLater, storeEmptied
    /// The clock of the store is set while a renewal is in flight; or set back while its process is killed.
    case storeClockSet, killedAndClockSetBack

    var needsRedis: Bool {
        switch self {
        case .cutHolder, .cutOther, .storeKilled, .storeKilledLater, .storeEmptied, .storeClockSet,
            .killedAndClockSetBack:
            true
        default: false
        }
    }

    var fault: FamilyServer.Fault {
        switch self {
        case .none, .stoppedOther, .killedOther, .clockSet, .cutOther, .storeKilled: .none
        case .lostReply: .lost
        case .unavailable: .unavailable
        case .killedAfter, .stoppedHolder, .cutHolder, .storeKilledLater, .storeEmptied, .storeClockSet,
            .killedAndClockSetBack:
            .heldAfter
        case .killedBefore: .heldBefore
        }
    }

    /// The logins that it may make necessary: the refresh token may have been used, and must not be used again.
    var logins: ClosedRange<Int> {
        switch self {
        case .none, .unavailable, .clockSet: 0...0
        case .lostReply, .killedAfter, .killedBefore, .stoppedHolder, .cutHolder, .storeEmptied,
            .killedAndClockSetBack:
            1...1
        // It may be the one that renews.
        case .killedOther, .stoppedOther, .cutOther: 0...1
        // The renewal may have been noted, or its outcome not.
        case .storeKilled, .storeKilledLater: 0...1
        // The lease may have ended by that.
        case .storeClockSet: 0...1
        }
    }

    /// Whether requests may fail: the server or the store refuses them.
    var mayFail: Bool {
        switch self {
        case .lostReply, .unavailable, .cutHolder, .cutOther, .storeKilled, .storeKilledLater, .storeEmptied:
            true
        // Another process is stopped in the middle of a write to a file.
        case .stoppedHolder, .stoppedOther: true
        default: false
        }
    }
}

/// Expiries of one login, one after the other.
private struct ExpiryRun {
    private let place: FleetProcesses.Place
    private let shop: FamilyServer
    private var random: SeededRandom
    private var fleet: FleetProcesses
    private var counts: [String: Int] = [:]
    private var logins: [String: Int] = [:]
    private var answers: [String: Int] = [:]
    private var lostWaiters = 0
    /// The outcomes of the current expiry.
    private var outcomes: [String] = []

    init(over place: FleetProcesses.Place, seed: UInt64) async throws {
        self.place = place
        shop = try FamilyServer()
        random = SeededRandom(seed)
        fleet = try await FleetProcesses(
            8, "login", over: place, at: shop.server.baseURL, setsClocks: ShiftedClock.isInstalled)
    }

    /// The counts in words.
    var summary: String {
        let end = shop.board.contents
        func list(_ counts: [String: Int]) -> String {
            counts.sorted { $0.key < $1.key }.map { "\($0.key) \($0.value)" }.joined(separator: ", ")
        }
        return """
            \(counts.values.reduce(0, +)) expiries: \(end.rotations) renewals, \(end.logins - 1) logins (\(list(logins))), \
            \(end.revocations.count) revoked families, \(lostWaiters) lost waiters, \(end.outdated.count) outdated tokens
              disturbances: \(list(counts))
              outcomes of requests: \(list(answers))
              events: \(list(fleet.events))
            """
    }

    mutating func go(_ count: Int, _ disturbances: [Disturbance]) async throws {
        let all = fleet.indices
        try fleet.write("first", to: all)
        for number in all { #expect(try await fleet.outcome(of: number, "first") == "200") }
        #expect(shop.board.contents.logins == 1)
        for round in 0..<count {
            // Each at least once in a short run.
            let disturbance =
                round < disturbances.count
                ? disturbances[round]
                : Bool.random(using: &random)
                    ? .none : disturbances[Int.random(in: 0..<disturbances.count, using: &random)]
            counts["\(disturbance)", default: 0] += 1
            try await expire(round, disturbance)
        }
        // All have the same credential in the end.
        try fleet.write("last", to: all)
        for number in all { #expect(try await fleet.outcome(of: number, "last") == "200") }
    }

    /// The process whose renewal the server holds.
    private func holder() async throws -> Int {
        let name = try await shop.board.until { $0.held }
        return try #require(Int(name.dropFirst()))
    }

    /// Lets the server go on.
    private func letGo() {
        let gate = shop.board.update { state in
            defer { (state.held, state.gate) = (nil, nil) }
            return state.gate
        }
        gate?.open()
    }

    /// One expiry of the credential.
    private mutating func expire(_ round: Int, _ disturbance: Disturbance) async throws {
        let name = "r\(round)"
        outcomes = []
        shop.board.update { state in
            state.access = []
            state.fault = disturbance.fault
        }
        let before = (state: shop.board.contents, unsaved: unsavedCount)
        let all = fleet.indices.shuffled(using: &random)
        if disturbance == .clockSet { try fleet.shiftClock(of: all[0], by: anyShift()) }
        if disturbance == .cutOther { fleet.cut(all[0], true) }
        try fleet.write(name, to: all)
        var waiting = Set(all)
        switch disturbance {
        case .none, .lostReply, .unavailable, .clockSet: break
        case .killedAfter, .killedBefore, .killedAndClockSetBack:
            let holder = try await holder()
            waiting.remove(holder)
            if disturbance == .killedAndClockSetBack {
                try await shiftStoreClock(by: -Int.random(in: 1_000_000...2_000_000, using: &random))
            }
            try await fleet.replace(holder)
            letGo()
        case .stoppedHolder:
            let holder = try await holder()
            fleet.stop(holder)
            letGo()
            waiting.remove(holder)
            for number in waiting { try await expectOutcome(of: number, name, disturbance) }
            waiting = [holder]
            fleet.resume(holder)
        case .stoppedOther:
            // It may be the one that renews; then the others wait for the end of its lease.
            fleet.stop(all[0])
            for number in waiting.subtracting([all[0]]) {
                try await expectOutcome(of: number, name, disturbance)
            }
            waiting = [all[0]]
            fleet.resume(all[0])
        case .killedOther:
            waiting.remove(all[0])
            try await fleet.replace(all[0])
        case .cutHolder, .cutOther:
            let cut = disturbance == .cutOther ? all[0] : try await holder()
            fleet.cut(cut, true)
            letGo()
            for number in waiting.subtracting([cut]) {
                try await expectOutcome(of: number, name, disturbance)
            }
            waiting = [cut]
            fleet.cut(cut, false)
        case .storeKilled: try await restartStore(RedisServer.persistence)
        case .storeKilledLater:
            _ = try await holder()
            try await restartStore(RedisServer.persistence, letGo)
        case .storeEmptied:
            _ = try await holder()
            try await restartStore([], letGo)
        case .storeClockSet:
            _ = try await holder()
            try await shiftStoreClock(by: anyShift())
            letGo()
        }
        for number in waiting { try await expectOutcome(of: number, name, disturbance) }
        if outcomes.contains(where: { !$0.hasSuffix(" 200") }) { try await settle(name) }
        try check(since: before, disturbance, round)
    }

    private mutating func anyShift() -> Int { Int.random(in: -1_000_000...1_000_000, using: &random) }

    private func shiftStoreClock(by seconds: Int) async throws {
        if case .redis(let server) = place { try await server.shiftClock(of: "login:shop", by: seconds) }
    }

    /// Kills the store, and starts it again.
    private func restartStore(_ arguments: [String], _ between: () -> Void = {}) async throws {
        guard case .redis(let server) = place else { return }
        try await server.kill()
        between()
        try await server.start(arguments)
    }

    /// Repeats the requests until all succeed: those of before may have found no store.
    private mutating func settle(_ name: String) async throws {
        for attempt in 1... {
            let line = "\(name).\(attempt)"
            try fleet.write(line, to: fleet.indices)
            var failures: [String] = []
            for number in fleet.indices {
                let outcome = try await fleet.outcome(of: number, line) ?? "has ended"
                if outcome != "200" { failures.append("p\(number) \(outcome)") }
            }
            if failures.isEmpty { return }
            try #require(attempt < 100, "\(failures) of \(outcomes)")
            // Processes connect again in their own time.
            try await Task.sleep(for: .milliseconds(200))
        }
    }

    private mutating func expectOutcome(
        of number: Int, _ name: String, _ disturbance: Disturbance
    ) async throws {
        let outcome = try #require(try await fleet.outcome(of: number, name), "p\(number) has ended")
        outcomes.append("p\(number) \(outcome)")
        let kind = outcome.split(separator: ":")[0].split(separator: " ").prefix(2).joined(separator: " ")
        answers["\(disturbance) \(kind)", default: 0] += 1
        if outcome.contains("totalTimeout") { lostWaiters += 1 }
        #expect(!outcome.contains("totalTimeout"), "a waiter is lost: \(outcome)")
    }

    /// Checks one expiry: one renewal, or a login where the refresh token may have been used.
    private mutating func check(
        since before: (state: FamilyServer.State, unsaved: Int), _ disturbance: Disturbance, _ round: Int
    ) throws {
        let (before, after, unsaved) = (before.state, shop.board.contents, unsavedCount - before.unsaved)
        let (rotations, logins) = (after.rotations - before.rotations, after.logins - before.logins)
        if logins > 0 { self.logins["\(disturbance)", default: 0] += logins }
        let text =
            "\(round) \(disturbance): \(rotations) renewals, \(logins) logins, \(fleet.events), \(outcomes)"
        #expect(after.revocations.isEmpty, "\(text)")
        #expect(after.outdated.isEmpty, "\(after.outdated)")
        #expect(rotations <= 1, "\(text)")
        #expect(rotations + logins >= 1, "\(text)")
        // A process that is stopped in the middle of a write holds up the others until they give up, and so does a disk.
        let isHeldUp = outcomes.contains {
            $0.contains("failed locked") || $0.contains("failed idleTimeout: redis")
        }
        if !disturbance.mayFail, !isHeldUp {
            #expect(outcomes.allSatisfy { $0.hasSuffix(" 200") }, "\(text)")
        }
        if isHeldUp { answers["held up", default: 0] += 1 }
        // After a credential that could not be saved, the next process logs in.
        #expect(disturbance.logins.contains(logins) || isHeldUp && logins <= 1 + unsaved, "\(text)")
    }

    /// The number of credentials that the processes could not save.
    private var unsavedCount: Int {
        fleet.events.reduce(0) { $0 + ($1.key.hasPrefix("unsaved") ? $1.value : 0) }
    }
}
#endif
