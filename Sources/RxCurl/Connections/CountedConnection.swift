internal import RxHTTP

/// One open connection, as ``ConnectionCensus`` counts it.
final class CountedConnection {
    // Touched only on the loop, by the census.
    let id: Int
    let socket: Int32
    let ports: Int
    let origin: Origin
    let remoteAddress: String?
    let openedAt: Duration
    /// The number of requests that use the connection.
    var users = 1

    init(
        id: Int, socket: Int32, ports: Int, origin: Origin, remoteAddress: String?, openedAt: Duration
    ) {
        self.id = id
        self.socket = socket
        self.ports = ports
        self.origin = origin
        self.remoteAddress = remoteAddress
        self.openedAt = openedAt
    }
}
