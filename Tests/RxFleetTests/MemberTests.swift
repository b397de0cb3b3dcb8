#if Fleet
import FoundationEssentials
import RxClient
import RxHTTP
import RxLite
import RxTesting
import Testing

@testable import RxFleet

/// The members of a fleet.
@Suite struct MemberTests {
    private let clock = VirtualScheduler(startingAt: Date(timeIntervalSince1970: 1000))
    private let store: MemoryStore

    init() { store = MemoryStore(on: clock, latency: .milliseconds(1)) }

    private func fleets(_ count: Int, parts: Int = 1) -> [(fleet: Fleet, connection: MemoryStore)] {
        (0..<count).map { number in
            let connection = store.connection(on: clock, latency: .milliseconds(1))
            return (
                Fleet(sharing: connection, as: "worker \(number)", parts: parts, clock: clock), connection
            )
        }
    }

    /// Members see each other, and those that leave or are gone disappear.
    @Test func members() throws {
        let fleets = fleets(5)
        for (fleet, _) in fleets {
            #expect(fleet.members.value.map(\.id) == [fleet.member.id])
            fleet.join()
        }
        try clock.advance(by: .seconds(10))
        for (fleet, _) in fleets {
            #expect(fleet.members.value.map(\.name).sorted() == (0..<5).map { "worker \($0)" })
            #expect(fleet.quota.memberCount == 5)
        }
        fleets[0].fleet.leave().subscribe(onFailure: { Issue.record("\($0)") })
        try clock.advance(by: .seconds(6))
        #expect(fleets[1].fleet.members.value.count == 4)
        fleets[1].connection.isConnected = false
        try clock.advance(by: .seconds(25))
        #expect(fleets[2].fleet.members.value.map(\.name).sorted() == ["worker 2", "worker 3", "worker 4"])
        // The last known number.
        #expect(fleets[1].fleet.members.value.count == 4)
        fleets[1].connection.isConnected = true
        try clock.advance(by: .seconds(10))
        #expect(fleets[2].fleet.members.value.count == 4)
    }

    /// A heartbeat that must be tried again because of another change adds no member that is leaving.
    @Test func leavingDuringHeartbeat() throws {
        let fleets = fleets(2)
        fleets[0].fleet.join()
        try clock.advance(by: .seconds(1))
        fleets[1].fleet.join()
        try clock.advance(by: .microseconds(1500))
        fleets[1].fleet.leave().subscribe(onFailure: { Issue.record("\($0)") })
        try clock.advance(by: .microseconds(500))
        // The heartbeat has read the table, and the end has not: only the heartbeat must try again.
        let table = try #require(store["members:0"])
        store["members:0"] = table
        try clock.advance(by: .seconds(6))
        #expect(fleets[0].fleet.members.value.map(\.name) == ["worker 0"])
    }

    /// A fleet without its store says so, and when it is back.
    @Test func events() throws {
        let (fleet, connection) = try #require(fleets(1).first)
        let events = Recorder(fleet.events, on: clock)
        fleet.join()
        try clock.advance(by: .seconds(20))
        connection.isConnected = false
        try clock.advance(by: .seconds(20))
        connection.isConnected = true
        try clock.advance(by: .seconds(20))
        #expect(events.values.map { "\($0)".prefix { $0 != ":" } } == ["degraded", "recovered"])
    }

    /// Members that are spread over several entries see each other, too.
    @Test func parts() throws {
        let fleets = fleets(20, parts: 4)
        for (fleet, _) in fleets { fleet.join() }
        try clock.advance(by: .seconds(60))
        #expect(fleets.allSatisfy { $0.fleet.members.value.count == 20 })
        #expect(store.keys.filter { $0.hasPrefix("members:") }.count == 4)
    }

    /// Garbage in the table is replaced by the next heartbeat.
    @Test func garbage() throws {
        let fleets = fleets(2)
        for (fleet, _) in fleets { fleet.join() }
        try clock.advance(by: .seconds(10))
        store["members:0"] = Array("garbage".utf8)
        try clock.advance(by: .seconds(15))
        #expect(fleets.allSatisfy { $0.fleet.members.value.count == 2 })
    }

    /// A store that loses its data loses no member: its last number counts until all have announced themselves again, or
    /// have had a lifetime to do so.
    @Test(arguments: [1, 4]) func lostData(parts: Int) throws {
        let fleets = fleets(8, parts: parts)
        for (fleet, _) in fleets { fleet.join() }
        try clock.advance(by: .seconds(60))
        #expect(fleets.allSatisfy { $0.fleet.quota.memberCount == 8 })
        for (_, connection) in fleets { connection.isConnected = false }
        store.loseData()
        try clock.advance(by: .seconds(40))
        // One after the other, and the last two are gone.
        for (number, (_, connection)) in fleets.enumerated().dropLast(2) {
            _ = clock.schedule(after: .milliseconds(300 * number)) { connection.isConnected = true }
        }
        for _ in 0..<100 {
            try clock.advance(by: .milliseconds(100))
            #expect(fleets.dropLast(2).allSatisfy { $0.fleet.quota.memberCount == 8 }, "at \(clock.now)")
        }
        try clock.advance(by: .seconds(60))
        #expect(fleets.dropLast(2).allSatisfy { $0.fleet.quota.memberCount == 6 })
        // Those that leave do not count at once.
        fleets[0].fleet.leave().subscribe(onFailure: { Issue.record("\($0)") })
        try clock.advance(by: .seconds(24))
        #expect(fleets[1].fleet.quota.memberCount == 5)
    }

    private func row(_ id: String, _ beats: UInt64) -> MemberTable.Row {
        MemberTable.Row(
            member: FleetMember(id: id, name: "", joined: Date(timeIntervalSince1970: -1e9)), beats: beats)
    }

    private func table(_ epoch: UInt64, _ rows: MemberTable.Row...) -> MemberTable {
        var table = MemberTable()
        (table.epoch, table.rows) = (epoch, rows)
        return table
    }

    /// A member is alive while its heartbeats advance, whatever its clock says.
    @Test func watch() {
        var watch = MemberWatch(lifetime: .seconds(10))
        var seen = watch.see(table(1, row("a", 7), row("b", 1)), at: .zero)
        #expect(seen.alive.map(\.id) == ["a", "b"])
        seen = watch.see(table(1, row("a", 8), row("b", 1)), at: .seconds(9))
        #expect(seen.gone.isEmpty)
        seen = watch.see(table(1, row("a", 8), row("b", 1)), at: .seconds(10))
        #expect(seen.alive.map(\.id) == ["a"])
        #expect(seen.gone == ["b"])
        seen = watch.see(table(1, row("a", 8), row("b", 2)), at: .seconds(20))
        #expect(seen.alive.map(\.id) == ["b"])
    }

    /// Members that the store has lost are alive for another lifetime, also if it loses them again.
    @Test func lostRows() {
        var watch = MemberWatch(lifetime: .seconds(10))
        _ = watch.see(table(1, row("a", 7), row("b", 1), row("c", 1)), at: .zero)
        // One has left.
        var seen = watch.see(table(1, row("a", 8), row("b", 2)), at: .seconds(5))
        #expect(seen.alive.map(\.id) == ["a", "b"])
        seen = watch.see(table(2, row("a", 1)), at: .seconds(12))
        #expect(seen.alive.map(\.id) == ["a", "b"])
        seen = watch.see(table(0), at: .seconds(21))
        #expect(seen.alive.map(\.id) == ["a", "b"])
        seen = watch.see(table(3, row("a", 1)), at: .seconds(22))
        #expect(seen.alive.map(\.id) == ["a"])
        #expect(seen.gone == ["b"])
        seen = watch.see(table(3, row("a", 2)), at: .seconds(23))
        #expect(seen.gone.isEmpty)
    }

    /// A fleet that the program lets go ends, with its session, even while the clock has work for it.
    @Test func letGo() throws {
        weak var fleet: Fleet?
        weak var credential: SharedCredential?
        weak var session: Session?
        weak var connection: MemoryStore?
        do {
            let own = store.connection(on: clock)
            let made = Fleet(sharing: own, as: "worker", clock: clock)
            made.join()
            let shared = made.credential("shop", sealing: try .test())
            let login = Session(sharing: shared, clock: clock, login: { .just(Credential(token: "t")) })
            login.logIn(with: Credential(token: "u"))
            try clock.advance(by: .seconds(10))
            login.logOut()
            try clock.advance(by: .seconds(1))
            made.circuits.report(.opened(for: .seconds(30)), of: "https://shop.test")
            (fleet, credential, session, connection) = (made, shared, login, own)
        }
        #expect(fleet == nil && session == nil)
        // What was on its way to the store arrives.
        try clock.advance(by: .milliseconds(10))
        #expect(credential == nil && connection == nil)
        #expect(store["circuit:https://shop.test"] != nil)
    }
}
#endif
