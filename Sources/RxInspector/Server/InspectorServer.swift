#if Inspector
import FlyingSocks
import FoundationEssentials
import HTTPTypes
import RxHTTP
import Synchronization

#if canImport(Glibc)
import Glibc
#elseif canImport(Darwin)
import Darwin
#endif

/// The HTTP server of an inspector, on 127.0.0.1. A connection serves one request.
final class InspectorServer: Sendable {
    /// The maximum number of bytes of a request's head.
    static let headLimit = 64 << 10
    /// The maximum number of connections with the token, beyond which new ones are refused; and of those without the
    /// token, beyond which the oldest is closed.
    static let connectionLimit = 100

    /// The port it listens on.
    let port: UInt16
    private let running: Task<Void, any Error>

    /// Returns when the server is listening.
    init(_ site: InspectorSite) async throws(NetworkError) {
        do {
            let socket = try Socket(domain: AF_INET)
            do {
                try socket.setValue(true, for: .localAddressReuse)
                try socket.bind(to: sockaddr_in.inet(ip4: "127.0.0.1", port: site.settings.port))
            } catch {
                try? socket.close()
                throw error
            }
            // It closes the descriptor if it fails.
            try socket.listen()
            do {
                guard case .ip4(_, let port) = try socket.sockname() else {
                    throw SocketError.unsupportedAddress
                }
                let pool = WriteTimeoutPool(peerTimeout: site.limits.peerTimeout)
                try await pool.prepare()
                let listener = try AsyncSocket(socket: socket, pool: pool)
                self.port = port
                running = Task { try await Self.run(listener, pool, site) }
            } catch {
                try? socket.close()
                throw error
            }
        } catch {
            throw NetworkError(
                .invalidConfiguration,
                "the inspector cannot listen on port \(site.settings.port): \(error)")
        }
    }

    /// Closes all connections and returns when they are gone.
    func stop() async {
        running.cancel()
        _ = await running.result
    }

    /// The open connections.
    private final class Connections: Sendable {
        private struct Contents {
            /// Those that have not shown the token, the oldest first.
            var strangers: [AsyncSocket] = []
            var knownCount = 0
        }

        private let contents = Mutex(Contents())

        /// Records a connection, and ends the oldest without the token if there are too many.
        func add(_ socket: AsyncSocket) {
            contents.withLock { contents in
                if contents.strangers.count >= connectionLimit {
                    // Its descriptor is open as long as it is in the list; a task that waits for it reads the end.
                    shutdown(contents.strangers.removeFirst().socket.file.rawValue, Int32(SHUT_RDWR))
                }
                contents.strangers.append(socket)
            }
        }

        /// Records that a connection has shown the token. Returns false if there are too many of them.
        func know(_ socket: AsyncSocket) -> Bool {
            contents.withLock { contents in
                contents.strangers.removeAll { $0.socket == socket.socket }
                contents.knownCount += 1
                return contents.knownCount <= connectionLimit
            }
        }

        /// Forgets a connection, before it is closed.
        ///
        /// - Parameter isKnown: whether it has shown the token.
        func remove(_ socket: AsyncSocket, isKnown: Bool) {
            contents.withLock { contents in
                if isKnown { contents.knownCount -= 1 }
                contents.strangers.removeAll { $0.socket == socket.socket }
            }
        }
    }

    private static func run(
        _ listener: AsyncSocket, _ pool: WriteTimeoutPool, _ site: InspectorSite
    ) async throws {
        // Nothing can be done about a descriptor that does not close.
        defer { try? listener.close() }
        let connections = Connections()
        try await withThrowingDiscardingTaskGroup { group in
            group.addTask { try await pool.run() }
            while !Task.isCancelled {
                do {
                    let socket = try await listener.accept()
                    connections.add(socket)
                    group.addTask { await serve(socket, site, connections) }
                } catch {
                    // The process has no descriptor left, or the peer is gone already.
                    try await Task.sleep(for: .milliseconds(100))
                }
            }
            group.cancelAll()
        }
    }

    private static func serve(
        _ socket: AsyncSocket, _ site: InspectorSite, _ connections: Connections
    ) async {
        var isKnown = false
        defer {
            connections.remove(socket, isKnown: isKnown)
            try? socket.close()
        }
        do {
            // Small messages that follow each other would wait for acknowledgements (RFC 9293 §3.7.4).
            try socket.socket.setValue(
                true, for: BoolSocketOption(level: Int32(IPPROTO_TCP), name: TCP_NODELAY))
            let read = try await within(site.limits.peerTimeout) {
                try await RequestHead.read(from: socket, limit: headLimit)
            }
            let response = await respond(to: read?.head, site) {
                isKnown = true
                return connections.know(socket)
            }
            try await socket.write(Data(response.bytes))
            guard let session = response.session, let rest = read?.rest else { return }
            let outbox = MessageOutbox(byteLimit: site.limits.outbox)
            await SessionSocket(socket: socket, outbox: outbox, session: session(outbox)).run(Array(rest))
        } catch {
            // The browser is gone, or too slow.
        }
    }

    /// - Parameters:
    ///   - head: the bytes of the head; `nil` if there are too many.
    ///   - admit: counts the connection as one with the token; returns false if there are too many.
    private static func respond(
        to head: ArraySlice<UInt8>?, _ site: InspectorSite, _ admit: () -> Bool
    ) async -> InspectorResponse {
        guard let head else { return .text(.requestHeaderFieldsTooLarge, "the head is too large") }
        guard let request = RequestHead(head) else { return .text(.badRequest, "malformed") }
        guard request.method == "GET" else { return .text(.methodNotAllowed, "only GET") }
        let verdict = Gate(token: site.token).verdict(
            path: request.path, host: request.host, origin: request.fields[.origin])
        let routes: [InspectorRoute]
        let path: String
        switch verdict {
        case .open(let rest):
            guard admit() else { return .text(.serviceUnavailable, "too many connections") }
            (routes, path) = (InspectorRoute.all(site), rest)
        case .withoutToken(let rest) where site.settings.isListed:
            (routes, path) = (InspectorRoute.listing, rest)
        case .forbidden: return .text(.forbidden, "only for this machine and its browser's developer tools")
        case .withoutToken, .unknown: return .text(.notFound, "not found")
        }
        // The tools ask for `/json/list/` too.
        let trimmed = path.hasSuffix("/") ? String(path.dropLast()) : path
        guard let route = routes.first(where: { $0.path == trimmed }) else {
            return .text(.notFound, "not found")
        }
        do {
            return try await route.respond(request, site)
        } catch {
            return .text(.internalServerError, "\(error)")
        }
    }
}

/// A pool whose sockets do not wait forever for a peer that reads nothing.
struct WriteTimeoutPool: AsyncSocketPool {
    /// The time after which a peer that reads nothing is disconnected.
    let peerTimeout: Duration
    private let pool: any AsyncSocketPool = SocketPool.make()

    init(peerTimeout: Duration) { self.peerTimeout = peerTimeout }

    func prepare() async throws { try await pool.prepare() }

    func run() async throws { try await pool.run() }

    func suspendSocket(_ socket: Socket, untilReadyFor events: Socket.Events) async throws {
        guard events.contains(.write) else {
            return try await pool.suspendSocket(socket, untilReadyFor: events)
        }
        try await within(peerTimeout) { try await pool.suspendSocket(socket, untilReadyFor: events) }
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
