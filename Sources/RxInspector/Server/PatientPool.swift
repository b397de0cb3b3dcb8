#if Inspector
import FlyingSocks

/// A pool whose sockets do not wait forever for a peer that reads nothing.
struct PatientPool: AsyncSocketPool {
    /// The time after which a peer that reads nothing is disconnected.
    let patience: Duration
    private let pool: any AsyncSocketPool = SocketPool.make()

    init(patience: Duration) { self.patience = patience }

    func prepare() async throws { try await pool.prepare() }

    func run() async throws { try await pool.run() }

    func suspendSocket(_ socket: Socket, untilReadyFor events: Socket.Events) async throws {
        guard events.contains(.write) else {
            return try await pool.suspendSocket(socket, untilReadyFor: events)
        }
        try await within(patience) { try await pool.suspendSocket(socket, untilReadyFor: events) }
    }
}

/// Returns what `work` returns, or throws ``FlyingSocks/SocketError/disconnected`` if it takes longer.
func within<Value: Sendable>(
    _ time: Duration, _ work: @escaping @Sendable () async throws -> Value
) async throws -> Value {
    try await withThrowingTaskGroup(of: Value.self) { group in
        group.addTask(operation: work)
        group.addTask {
            try await Task.sleep(for: time)
            throw SocketError.disconnected
        }
        defer { group.cancelAll() }
        guard let value = try await group.next() else { throw SocketError.disconnected }
        return value
    }
}
#endif
