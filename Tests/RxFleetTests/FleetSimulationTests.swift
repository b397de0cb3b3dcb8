#if Fleet
import FoundationEssentials
import HTTPTypes
import RxClient
import RxFleet
import RxHTTP
import RxLite
import RxTesting
import Synchronization
import Testing

/// Fleets in virtual time, with processes that are cut off, replies that are lost, and a server that revokes a login whose
/// refresh token is used twice. The scenario `fleet` of Tests/explore.sh adds killed processes and faults of the wire.
@Suite struct FleetSimulationTests {
    private struct Run {
        let fixture = FleetFixture()
        var random: SeededRandom
        var recorders: [Recorder<Response, NetworkError>] = []

        init(_ seed: UInt64) { random = SeededRandom(seed) }

        mutating func chance(_ percent: Int) -> Bool { Int.random(in: 0..<100, using: &random) < percent }

        /// One expiry of the credential, with faults.
        mutating func expire(_ members: [FleetFixture.Member]) throws {
            let clock = fixture.clock
            fixture.server.expire()
            if chance(20) { fixture.server.contents.withLock { $0.losesReply = true } }
            if chance(20) {
                fixture.server.contents.withLock { $0.statuses = [.init(code: 503)] }
            }
            for member in members {
                let store = member.store
                if chance(5) {
                    let start = Duration.milliseconds(Int.random(in: 0..<120, using: &random))
                    let length = Duration.milliseconds(Int.random(in: 1..<14_000, using: &random))
                    _ = clock.schedule(after: start) { store.isConnected = false }
                    _ = clock.schedule(after: start + length) { store.isConnected = true }
                }
                if chance(5) {
                    let start = Duration.milliseconds(Int.random(in: 0..<120, using: &random))
                    _ = clock.schedule(after: start) { store.losesReplies = true }
                    _ = clock.schedule(after: start + .milliseconds(30)) { store.losesReplies = false }
                }
            }
            for member in members.shuffled(using: &random) {
                recorders.append(fixture.get(member))
                if chance(30) {
                    try clock.advance(by: .microseconds(Int.random(in: 0..<5000, using: &random)))
                }
            }
            try clock.advance(by: .seconds(40))
        }
    }

    /// No login is revoked, no waiter is lost, and all end with the newest credential.
    @Test(arguments: 1...30 as ClosedRange<UInt64>)
    func seeds(seed: UInt64) throws {
        var run = Run(seed)
        let (fixture, server) = (run.fixture, run.fixture.server)
        let members = try fixture.members(25)
        for _ in 0..<6 { try run.expire(members) }
        #expect(run.recorders.allSatisfy { $0.isFinished || $0.failure != nil }, "a waiter is lost")
        #expect(server.revocations.isEmpty)
        for member in members {
            member.store.isConnected = true
            member.store.losesReplies = false
        }
        server.contents.withLock {
            $0.losesReply = false
            $0.statuses = []
        }
        // Twice: the first may find a renewal that was lost.
        for _ in 0..<2 {
            for member in members { fixture.get(member) }
            try fixture.clock.advance(by: .seconds(40))
        }
        let last = members.map { fixture.get($0) }
        try fixture.clock.advance(by: .seconds(40))
        #expect(last.allSatisfy { $0.isFinished })
        #expect(Set(members.map { $0.session.credential?.token }).count == 1)
        #expect(Set(members.map(\.credential.version)).count == 1)
        #expect(server.revocations.isEmpty)
        let lost = members.flatMap(\.loginEvents.values).count {
            if case .renewalLost = $0 { true } else { false }
        }
        let unsaved = members.flatMap(\.eventTexts).count { $0 == "storageFailed" }
        #expect(server.logins <= 1 + lost + unsaved, "each login has a reason")
    }

    /// A thousand members renew once for each expiry.
    @Test func thousand() throws {
        let fixture = FleetFixture()
        let members = try (0..<1000).map { _ in try fixture.member() }
        fixture.get(members[0])
        try fixture.clock.run()
        for member in members { fixture.get(member) }
        try fixture.clock.run()
        for round in 1...3 {
            let commands = members.reduce(0) { $0 + $1.store.commandCount }
            fixture.server.expire()
            let recorders = members.map { fixture.get($0) }
            try fixture.clock.run()
            #expect(recorders.allSatisfy { $0.isFinished })
            #expect(fixture.server.renewals == round)
            let cost = members.reduce(0) { $0 + $1.store.commandCount } - commands
            #expect(cost < 2100, "a lease and a read for each member: \(cost)")
        }
        #expect(fixture.server.logins == 1)
    }
}
#endif
