#if Fleet
import Foundation
import RxTesting
import TestServers
import Testing

extension RedisServer {
    /// Has the effect on a store of setting the clock of Redis by so many seconds: the end of a lease, and the last version,
    /// are as much nearer or further away.
    func shiftClock(of lease: String, by seconds: Int) async throws {
        try await command(["HINCRBY", "{rxfleet}:lease:" + lease, "end", "\(-seconds * 1_000_000)"])
        try await command(["INCRBY", "{rxfleet}:clock", "\(-seconds * 1_000_000)"])
    }
}

/// Programs that share a store (`fleet-probe`). A test kills and stops them, cuts them off from the store, and sets their
/// clocks.
struct FleetProcesses {
    /// The store that the processes share.
    enum Place {
        /// The folder of a file store, or the address of a Redis that somebody else runs.
        case named(String)
        /// A Redis of the test; each process has a way to it of its own.
        case redis(RedisServer)
    }

    private struct Member {
        let place: String
        let way: Partition?
        let clock: ShiftedClock?
        var process: ChildProcess
    }

    private let arguments: [String]
    private var members: [Member] = []
    /// The other notes of the processes, and their numbers.
    private(set) var events: [String: Int] = [:]

    /// Starts the processes `p0`, `p1` and so on.
    ///
    /// - Parameters:
    ///   - mode: the work that they do.
    ///   - url: the server that they use.
    init(
        _ count: Int, _ mode: String, over place: Place, at url: String, setsClocks: Bool = false
    ) async throws {
        arguments = [mode, url]
        for number in 0..<count {
            let way: Partition? =
                if case .redis(let server) = place { try Partition(to: server.port) } else { nil }
            let name: String
            switch place {
            case .named(let text): name = text
            case .redis(let server): name = "redis://127.0.0.1:\(way?.port ?? server.port)"
            }
            let clock = setsClocks ? try ShiftedClock() : nil
            members.append(
                Member(
                    place: name, way: way, clock: clock,
                    process: try Self.start(arguments, number, over: name, clock)))
        }
        for number in members.indices { try await expectReady(number) }
    }

    var indices: Range<Int> { members.indices }

    private static func start(
        _ arguments: [String], _ number: Int, over place: String, _ clock: ShiftedClock?
    ) throws -> ChildProcess {
        let environment = ProcessInfo.processInfo.environment.merging(clock?.environment ?? [:]) { $1 }
        // Of the first program that it is in, libfaketime moves the environment, next to which Swift looks for the arguments.
        return try ChildProcess(
            "/usr/bin/env", [ChildProcess.product("fleet-probe"), place, "p\(number)"] + arguments,
            environment: environment)
    }

    private func expectReady(_ number: Int) async throws {
        let line = try await members[number].process.nextLine()
        if line == "ready" { return }
        let record = try await members[number].process.kill()
        Issue.record("\(line ?? "nothing"): \(record.errorText) \(String(describing: record.ending))")
        throw CancellationError()
    }

    // MARK: - Faults

    /// Kills a process, and starts another in its place.
    mutating func replace(_ number: Int) async throws {
        let record = try await members[number].process.kill()
        #expect(record.errorText.isEmpty, "\(record.errorText)")
        members[number].process = try Self.start(
            arguments, number, over: members[number].place, members[number].clock)
        try await expectReady(number)
    }

    func stop(_ number: Int) { members[number].process.stop() }

    func resume(_ number: Int) { members[number].process.resume() }

    /// Cuts a process off from the store, or lets it reach it again.
    func cut(_ number: Int, _ isCut: Bool) { members[number].way?.isCut = isCut }

    /// Sets the clock of a process to so many seconds after the date.
    func shiftClock(of number: Int, by seconds: Int) throws { try members[number].clock?.shift(by: seconds) }

    // MARK: - Lines

    /// Writes a line to processes, each of which answers it with an outcome.
    func write(_ line: String, to numbers: some Sequence<Int>) throws {
        for number in numbers { try members[number].process.write(line + "\n") }
    }

    /// The outcome of a line, after the events before it; `nil` if the process has ended.
    mutating func outcome(of number: Int, _ line: String) async throws -> String? {
        while let text = try await members[number].process.nextLine() {
            if text.hasPrefix("event ") {
                events[String(text.dropFirst("event ".count)), default: 0] += 1
            } else if text.hasPrefix(line + " ") {
                return String(text.dropFirst(line.count + 1))
            }
        }
        return nil
    }
}
#endif
