#if Inspector && Fleet
import FoundationEssentials
import RxFleet
@testable import RxInspector
import RxLite
import RxNetworking
import RxTesting
import Testing

extension StreamTests {
    @Suite(.timeLimit(.minutes(1))) struct FleetStreamTests {
        /// The page shows who is in a fleet and what happens in it, and no credential. Fleets that are let go end their
        /// streams.
        @Test func membersAndEvents() async throws {
            let inspector = try await Inspector.startForTests()
            let reader = FeedReader(inspector)
            await reader.wait { !$0.all.isEmpty }
            let clock = VirtualScheduler()
            try await show(to: reader, clock)
            // What was on its way to the store has arrived.
            try clock.advance(by: .seconds(1))
            #expect(!StreamLog.shared.openTracks.contains { $0.origin.name.hasPrefix("fleet ") })
            await inspector.stop()
        }

        private func show(to reader: FeedReader, _ clock: VirtualScheduler) async throws {
            let store = MemoryStore(on: clock)
            let fleets = ["worker 1", "worker 2"].map {
                Fleet(sharing: store.connection(on: clock), as: $0, clock: clock)
            }
            for fleet in fleets { fleet.join() }
            try clock.advance(by: .seconds(10))
            // Those who have joined at the same time are in any order.
            await reader.wait { reader in
                reader.events.contains { event in
                    event.name == "fleet members"
                        && ["2: worker 1, worker 2", "2: worker 2, worker 1"].contains(event.text)
                }
            }

            let keys = SealingKeys(try SealingKey(id: "test", bytes: Array(repeating: 7, count: 32)))
            let sessions = fleets.map { fleet in
                Session(
                    sharing: fleet.credential("shop", sealing: keys), clock: clock,
                    login: { .just(Credential(token: "canary9")) })
            }
            sessions[0].logIn(with: Credential(token: "canary9"))
            try clock.advance(by: .seconds(1))
            sessions[1].logOut()
            try clock.advance(by: .seconds(1))
            fleets[0].circuits.report(.opened(for: .seconds(30)), of: "https://shop.test:443")
            let last = "circuit of https://shop.test:443 opened for 30.0 seconds"
            await reader.wait { $0.events.contains { $0 == ("fleet events", "value", last) } }
            let texts = reader.events.filter { $0.name == "fleet events" }.map(\.text)
            for part in ["of another process", "logged out by another process"] {
                #expect(texts.contains { $0.hasPrefix("login: ") && $0.contains(part) }, "\(texts)")
            }
            #expect(!reader.events.contains { $0.text.contains("canary9") })
        }
    }
}
#endif
