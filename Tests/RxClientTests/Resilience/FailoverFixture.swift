import FoundationEssentials
import HTTPTypes
import RxHTTP
import RxLite
import RxTesting
import Synchronization
import Testing

@testable import RxClient

/// A client with two servers that respond as instructed.
struct FailoverFixture {
    typealias Reply = ScriptedTransport.Reply

    let fixture = ResilienceFixture()
    var clock: VirtualScheduler { fixture.clock }

    /// The current responses of the two servers.
    final class Health: Sendable {
        private let answers = Mutex<[String: Reply]>([:])

        subscript(host: String) -> Reply {
            get { answers.withLock { $0[host] ?? .json("\"\(host)\"") } }
            set { answers.withLock { $0[host] = newValue } }
        }
    }

    let health = Health()

    func client(
        probeInterval: Duration = .seconds(30), _ configure: (inout ClientConfiguration) -> Void = { _ in }
    ) -> (Client, ScriptedTransport) {
        fixture(
            {
                $0.standbyURL = "https://standby.test/v1"
                $0.failoverProbeInterval = probeInterval
                configure(&$0)
            }) { [health] request in health[request.url.host() ?? ""] }
    }
}
