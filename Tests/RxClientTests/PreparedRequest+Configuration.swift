import RxHTTP
import RxLite
import RxTesting

@testable import RxClient

extension PreparedRequest {
    /// A request as a client of that configuration prepares it.
    convenience init(
        _ endpoint: some Endpoint, configuration: ClientConfiguration,
        on scheduler: VirtualScheduler = VirtualScheduler()
    ) throws(NetworkError) {
        let client = Client(configuration: configuration, transport: ScriptedTransport(on: scheduler, []))
        try self.init(endpoint, of: client, on: scheduler)
    }

    /// The request as it is sent to the main server.
    func sent() throws(NetworkError) -> Request {
        let request = try serialized()
        return try signed(request, from: request)
    }
}
