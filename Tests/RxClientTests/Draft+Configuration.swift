import RxHTTP
import RxLite
import RxTesting

@testable import RxClient

extension Draft {
    /// As a client of that configuration makes it.
    init(_ endpoint: some Endpoint, configuration: ClientConfiguration) throws(NetworkError) {
        let client = Client(
            configuration: configuration, transport: ScriptedTransport(on: VirtualScheduler(), []))
        try self.init(endpoint, configuration: configuration, servers: client.servers.pair)
    }
}
