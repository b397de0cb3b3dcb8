#if Inspector
import FlyingFox
import FlyingSocks

#if canImport(Glibc)
import Glibc
#elseif canImport(Darwin)
import Darwin
#endif

/// FlyingFox's default pool, with sockets that send without delay and writes that do not wait forever.
struct PromptSockets: AsyncSocketPool {
    /// The time after which a peer that reads nothing is disconnected.
    let patience: Duration
    private let pool: any AsyncSocketPool = HTTPServer.defaultPool()

    init(patience: Duration) { self.patience = patience }

    func prepare() async throws { try await pool.prepare() }

    func run() async throws { try await pool.run() }

    func suspendSocket(_ socket: Socket, untilReadyFor events: Socket.Events) async throws {
        // Small messages that follow each other would wait for acknowledgements (RFC 9293 §3.7.4).
        try socket.setValue(true, for: BoolSocketOption(level: Int32(IPPROTO_TCP), name: TCP_NODELAY))
        guard events.contains(.write) else {
            return try await pool.suspendSocket(socket, untilReadyFor: events)
        }
        try await withThrowingTaskGroup { group in
            group.addTask { try await pool.suspendSocket(socket, untilReadyFor: events) }
            group.addTask {
                try await Task.sleep(for: patience)
                throw SocketError.disconnected
            }
            defer { group.cancelAll() }
            try await group.next()
        }
    }
}
#endif
