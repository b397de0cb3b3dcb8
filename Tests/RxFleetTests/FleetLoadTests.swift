#if Fleet
import Foundation
import RxTesting
import TestServers
import Testing

/// Eight processes that share a limit, and a cache, by the log of the server that they use. Tests/fleet.sh runs
/// them; they measure in real time.
@Suite(
    .serialized, .timeLimit(.minutes(60)),
    .enabled(if: ProcessInfo.processInfo.environment["FLEET_SECONDS"] != nil, "measures in real time"))
struct FleetLoadTests {
    private static let clock = ContinuousClock()

    private static func number(_ name: String) -> Int? {
        ProcessInfo.processInfo.environment[name].flatMap { Int($0) }
    }

    enum Place: String, CaseIterable, CustomTestStringConvertible {
        case file = "a file", redis = "Redis"

        var testDescription: String { rawValue }

        static var available: [Place] { RedisServer.isInstalled ? allCases : [.file] }
    }

    // MARK: - Limits

    private static let seconds = number("FLEET_SECONDS") ?? 3

    /// A server that allows 100 requests a second, and 20 at once.
    private final class LimitedServer: Sendable {
        struct Log: Sendable {
            var tokens = 20.0
            var updated: ContinuousClock.Instant?
            var times: [ContinuousClock.Instant] = []
            var refused = 0

            /// Takes a token; false if there is none.
            mutating func take(at now: ContinuousClock.Instant) -> Bool {
                tokens = min(20, tokens + 100 * ((now - (updated ?? now)) / .seconds(1)))
                (updated, times) = (now, times + [now])
                guard tokens >= 1 else {
                    refused += 1
                    return false
                }
                tokens -= 1
                return true
            }

            func count(from start: ContinuousClock.Instant, for time: Duration) -> Int {
                times.count { $0 >= start && $0 < start + time }
            }
        }

        let board = Board(Log())
        let server: RawServer

        init() throws {
            let board = board
            server = try RawServer { _ in
                let isAllowed = board.update { $0.take(at: FleetLoadTests.clock.now) }
                return [.respond(isAllowed ? 200 : 429, body: "1")]
            }
        }
    }

    private struct Outcome {
        var succeeded = 0
        var limited = 0
        var failed = 0
        var commands = 0

        mutating func add(_ text: String?) throws {
            let numbers = (text ?? "").split(separator: " ").compactMap { Int($0) }
            try #require(numbers.count == 4, "\(text ?? "the process has ended")")
            (succeeded, limited) = (succeeded + numbers[0], limited + numbers[1])
            (failed, commands) = (failed + numbers[2], commands + numbers[3])
        }
    }

    /// The requests of the processes in one run, and what they have told.
    private func send(
        _ fleet: inout FleetProcesses, for seconds: Int, meanwhile: () async throws -> Void = {}
    ) async throws -> Outcome {
        try fleet.write("members 8", to: fleet.indices)
        for number in fleet.indices { #expect(try await fleet.outcome(of: number, "members 8") == "met") }
        try fleet.write("send \(seconds)", to: fleet.indices)
        try await meanwhile()
        var sum = Outcome()
        for number in fleet.indices { try sum.add(try await fleet.outcome(of: number, "send \(seconds)")) }
        return sum
    }

    /// The whole quota is used, and no more, with at most a tenth of a command for each permit.
    @Test(arguments: Place.available) func limits(_ place: Place) async throws {
        let shop = try LimitedServer()
        let folder = try TemporaryFolder()
        let redis = place == .redis ? try await RedisServer() : nil
        var fleet = try await FleetProcesses(
            8, "limits", over: redis.map { .redis($0) } ?? .named(folder.file("fleet")),
            at: shop.server.baseURL)
        let sum = try await send(&fleet, for: Self.seconds)
        let log = shop.board.contents
        let start = try #require(log.times.first)
        let used = log.count(from: start, for: .seconds(Self.seconds))
        print(
            """
            \(place.rawValue), \(Self.seconds) s: \(used) requests of \(100 * Self.seconds), \(log.refused) of \
            \(log.times.count) refused, \(sum.commands) commands for \(sum.succeeded) permits
            """)
        #expect(Double(log.refused) <= 0.01 * Double(log.times.count))
        #expect(Double(used) >= 0.97 * 100 * Double(Self.seconds))
        #expect(sum.failed == 0)
        // A heartbeat is two commands, and comes at least after a quarter of three seconds; the first ones meet each other.
        let beats = 8 * 2 * (Double(Self.seconds + 2) / 0.75 + 1)
        if place == .redis { #expect(Double(sum.commands) <= 0.1 * Double(sum.succeeded) + beats) }
    }

    /// While Redis is dead, and when it is back without data, the processes send at most 1.1 times the quota.
    @Test(.enabled(if: RedisServer.isInstalled)) func limitsWithoutRedis() async throws {
        let shop = try LimitedServer()
        let redis = try await RedisServer()
        var fleet = try await FleetProcesses(8, "limits", over: .redis(redis), at: shop.server.baseURL)
        let part = Duration.seconds(Self.seconds)
        let sum = try await send(&fleet, for: 3 * Self.seconds) {
            try await Task.sleep(for: part)
            try await redis.kill()
            try await Task.sleep(for: part)
            try await redis.start()
        }
        let log = shop.board.contents
        let start = try #require(log.times.first)
        let parts = (0..<3).map { log.count(from: start + part * $0, for: part) }
        print(
            """
            Redis killed for \(Self.seconds) s of \(3 * Self.seconds): \(parts) requests of \(100 * Self.seconds) each, \
            \(log.refused) refused, events \(fleet.events)
            """)
        #expect(Double(parts.reduce(0, +)) <= 1.1 * 300 * Double(Self.seconds) + 20)
        #expect(Double(parts.reduce(0, +)) >= 0.8 * 300 * Double(Self.seconds))
        #expect(sum.failed == 0)
        #expect(fleet.events["degraded"] ?? 0 >= 1)
    }

    // MARK: - Cache

    private static let keyCount = number("FLEET_KEYS") ?? 40

    /// A response is fetched once for all processes. After a removal no process uses an old one once the message has
    /// arrived, and never after a second.
    @Test(arguments: Place.available) func cache(_ place: Place) async throws {
        let fetches = Board<[String: Int]>([:])
        let content = Board(0)
        let shop = try RawServer { request in
            fetches.update { $0[request.target, default: 0] += 1 }
            return [.respond(200, ["Cache-Control": "max-age=3600"], body: "\(content.contents)")]
        }
        let folder = try TemporaryFolder()
        let redis = place == .redis ? try await RedisServer() : nil
        var fleet = try await FleetProcesses(
            8, "cache", over: redis.map { .redis($0) } ?? .named(folder.file("fleet")), at: shop.baseURL)
        let start = Self.clock.now
        try fleet.write("fill \(Self.keyCount)", to: fleet.indices)
        for number in fleet.indices {
            #expect(try await fleet.outcome(of: number, "fill \(Self.keyCount)") == "0")
        }
        let counts = fetches.contents
        let more = counts.values.count { $0 > 1 }
        print(
            "\(place.rawValue): \(counts.count) keys in 8 processes, \(counts.values.reduce(0, +)) fetches, in \(Self.clock.now - start)"
        )
        #expect(counts.count == Self.keyCount)
        #expect(more == 0, "\(more) keys were fetched more than once")

        // The first process removes, the others use the responses meanwhile.
        let watchers = fleet.indices.dropFirst()
        let line = "watch \(Self.seconds)"
        try fleet.write(line, to: watchers)
        var removals: [Double] = []
        for removal in 1...3 {
            try await Task.sleep(for: .milliseconds(Self.seconds * 200))
            content.update { $0 = removal }
            try fleet.write("remove", to: [0])
            removals.append(try #require(Double(try await fleet.outcome(of: 0, "remove") ?? "")))
        }
        var (requests, violations, latest) = (0, 0, 0.0)
        for number in watchers {
            let words = try #require(try await fleet.outcome(of: number, line)).split(separator: " ")
            requests += try #require(Int(words[0]))
            violations += try #require(Int(words[1]))
            for pair in (words.count > 2 ? words[2] : "").split(separator: ",") {
                let parts = pair.split(separator: ":").map(String.init)
                let (removal, time) = (try #require(Int(parts[0])), try #require(Double(parts[1])))
                // What is older than a removal that has not been made is not old.
                if removal <= 3 { latest = max(latest, time - removals[removal - 1]) }
            }
        }
        print(
            """
            \(place.rawValue): \(requests) requests beside 3 removals, \(violations) old responses after the push, the last \
            one \(Int(latest)) ms after the removal
            """)
        #expect(requests > 100)
        #expect(violations == 0)
        #expect(latest <= 1000)
    }
}
#endif
