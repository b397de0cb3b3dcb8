import RxHTTP
import RxLite
import RxLoop
import Synchronization

/// Distributes the changes of all connections of a transport. Without subscribers, a connection costs one load of
/// ``isObserved``. Safe from any thread.
final class ConnectionHub: Sendable {
    private let signal = Signal<ConnectionEvent>()
    private let listeners = Atomic<Int>(0)
    private let latestID = Atomic<Int>(0)

    /// Whether there is a subscriber.
    var isObserved: Bool { listeners.load(ordering: .relaxed) > 0 }

    /// The changes from the time of subscription on.
    var events: Observable<ConnectionEvent, Never> {
        Observable { observer in
            self.listeners.add(1, ordering: .relaxed)
            observer.scope.onClose { self.listeners.subtract(1, ordering: .relaxed) }
            self.signal.observable.subscribe(observer)
        }
    }

    /// A new number for a connection.
    func nextID() -> Int { latestID.add(1, ordering: .relaxed).newValue }

    func send(_ event: ConnectionEvent) { signal.send(event) }
}

/// Reports the changes of one loop's connections, of those that are opened while there is a subscriber.
final class ConnectionTracker {
    // Without checks of exclusivity: touched only on the loop, which the calls assert; nothing that leads back here is
    // called while a variable is being changed.
    private let loop: EventLoop
    private let hub: ConnectionHub
    /// By both ports, which identify a connection among the open ones. A second one with the same ports, to another
    /// address, is not counted.
    @safe @exclusivity(unchecked) private var byPorts: [Int: CountedConnection] = [:]
    @safe @exclusivity(unchecked) private var bySocket: [Int32: CountedConnection] = [:]

    init(on loop: EventLoop, reportingTo hub: ConnectionHub) {
        self.loop = loop
        self.hub = hub
    }

    /// Whether a connection that is opened now is counted.
    var isObserved: Bool { hub.isObserved }

    /// Whether there is anything to count.
    var isInUse: Bool { isObserved || !byPorts.isEmpty }

    /// Records that a transfer is about to be sent on a connection.
    ///
    /// - Parameters:
    ///   - current: the connection that the transfer used before, if it is sent again.
    ///   - sockets: the sockets that were opened for the transfer.
    /// - Returns: the connection, if it is counted.
    func use(
        _ endpoints: ConnectionEndpoints, after current: CountedConnection?, sockets: [Int32],
        to request: Request
    ) -> CountedConnection? {
        loop.assertCurrent()
        if let current { leave(current) }
        guard endpoints.localPort > 0 else { return nil }
        let ports = endpoints.localPort << 16 | endpoints.port
        if let known = byPorts[ports] {
            guard known.remoteAddress == endpoints.address else { return nil }
            known.users += 1
            if known.users == 1 { report(.active, known) }
            return known
        }
        guard let socket = sockets.first(where: { isNew($0, at: endpoints.localPort) }),
            let origin = Origin(request.url)
        else { return nil }
        let connection = CountedConnection(
            id: hub.nextID(), socket: socket, ports: ports, origin: origin,
            remoteAddress: endpoints.address, openedAt: loop.now)
        byPorts[ports] = connection
        bySocket[socket] = connection
        report(.opened, connection)
        return connection
    }

    private func isNew(_ socket: Int32, at localPort: Int) -> Bool {
        bySocket[socket] == nil && ConnectedSocket(descriptor: socket).localPort == localPort
    }

    /// Records that a transfer no longer uses its connection.
    func leave(_ connection: CountedConnection) {
        loop.assertCurrent()
        connection.users -= 1
        if connection.users == 0, connection.isOpen { report(.idle, connection) }
    }

    /// Records that a socket is about to be closed.
    func close(_ socket: Int32) {
        loop.assertCurrent()
        guard !bySocket.isEmpty, let connection = bySocket.removeValue(forKey: socket) else { return }
        byPorts[connection.ports] = nil
        connection.isOpen = false
        report(.closed(after: loop.now - connection.openedAt), connection)
    }

    private func report(_ kind: ConnectionEvent.Kind, _ connection: CountedConnection) {
        hub.send(
            ConnectionEvent(
                kind, of: connection.id, to: connection.origin, remoteAddress: connection.remoteAddress))
    }
}

/// One connection, as ``ConnectionTracker`` counts it.
final class CountedConnection {
    // Touched only on the loop, by the tracker.
    let id: Int
    let socket: Int32
    /// The local and the remote port in one number: the key in the tracker's table.
    let ports: Int
    let origin: Origin
    let remoteAddress: String?
    let openedAt: Duration
    /// The number of requests that use the connection.
    var users = 1
    /// Whether its socket has not been closed.
    var isOpen = true

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

/// The two ends of a connection.
struct ConnectionEndpoints {
    var address: String?
    var port = 0
    var localPort = 0
}

/// Keeps the address that was read last, because most requests go to the same few addresses.
@safe
struct AddressCache {
    private var address = ""

    /// Returns the text, or `nil` if it is empty. `text` must be valid and NUL-terminated.
    mutating func read(_ text: UnsafePointer<CChar>?) -> String? {
        guard let text = unsafe text, unsafe text.pointee != 0 else { return nil }
        let isSame = address.withUTF8 { known in
            var index = 0
            while index < known.count, unsafe UInt8(bitPattern: text[index]) == known[index] { index += 1 }
            return unsafe index == known.count && text[index] == 0
        }
        if !isSame { address = unsafe String(cString: text) }
        return address
    }
}
