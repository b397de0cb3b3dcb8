#if Inspector && Fleet
import FoundationEssentials
import RxFleet
@testable import RxInspector
import RxNetworking
import RxTesting
import Testing

extension StreamTests {
    @Suite(.timeLimit(.minutes(1))) struct FleetStreamTests {
        /// The page shows who is in a fleet and what happens in it, and no credential.
        @Test func membersAndEvents() async throws {
            let inspector = try await Inspector.startForTests()
            let reader = FeedReader(inspector)
            await reader.wait { !$0.all.isEmpty }
            let clock = VirtualScheduler()
            let store = MemoryStore(on: clock)
            let fleets = ["worker 1", "worker 2"].map {
                Fleet(sharing: store.connection(on: clock), as: $0, clock: clock)
            }
            for fleet in fleets { fleet.join() }
            try clock.advance(by: .seconds(10))
            await reader.wait { reader in
                reader.events.contains { $0.name == "fleet members" && $0.text == "2: worker 1, worker 2" }
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
            await reader.wait { reader in
                let texts = reader.events.filter { $0.name == "fleet events" }.map(\.text)
                return [
                    "login: version 1 of another process", "login: logged out by another process",
                    "circuit of https://shop.test:443 opened for 30.0 seconds",
                ].allSatisfy { part in texts.contains { $0.contains(part) } }
            }
            #expect(!reader.events.contains { $0.text.contains("canary9") })
            await inspector.stop()
        }
    }
}
#endif
