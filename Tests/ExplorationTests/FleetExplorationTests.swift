#if Fleet
import Scenarios
import Testing

/// Fleets of many members, with few seeds; `Tests/explore.sh` runs 2,000 of 1,000 members.
@Suite struct FleetExplorationTests {
    /// No login is revoked, no waiter is lost, and each login has a reason.
    @Test(arguments: 1...6 as ClosedRange<UInt64>)
    func seeds(seed: UInt64) throws {
        let outcome = try FleetSimulation.run(seed: seed, members: 60, expiries: 4)
        #expect(outcome.violations == [])
        #expect(outcome.renewals >= 1 && outcome.faults >= 1)
    }

    /// A run leaves nothing behind in the process, which makes many.
    @Test func remains() throws {
        let remains = try FleetSimulation.remains(seed: 1, members: 60)
        #expect(remains == [])
    }

    /// The operations of the store for an expiry and for a limit, by the number of members.
    @Test func cost() throws {
        let (few, many) = (try FleetSimulation.cost(members: 10), try FleetSimulation.cost(members: 100))
        #expect(few.expiry <= 30 && many.expiry <= 220, "\(few), \(many)")
        #expect(few.permits <= 0.1 * few.requests && few.requests >= 970, "\(few)")
        #expect(many.permits <= 0.15 * many.requests && many.requests >= 970, "\(many)")
        #expect(many.heartbeats <= 100, "\(many)")
    }
}
#endif
