#if Inspector
import FlyingSocks
import FoundationEssentials
import HTTPTypes
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
    /// The maximum number of connections; further ones are closed at once.
    static let connectionLimit = 100

    /// The port it listens on.
    let port: UInt16
    private let running: Task<Void, any Error>

    /// Returns when the server is listening.
    init(_ site: InspectorSite) async throws(Inspector.StartError) {
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
                let pool = PatientPool(patience: site.limits.patience)
                try await pool.prepare()
                let listener = try AsyncSocket(socket: socket, pool: pool)
                self.port = port
                running = Task { try await Self.run(listener, pool, site) }
            } catch {
                try? socket.close()
                throw error
            }
        } catch {
            throw Inspector.StartError(
                description: "the inspector cannot listen on port \(site.settings.port): \(error)")
        }
    }

    /// Closes all connections and returns when they are gone.
    func stop() async {
        running.cancel()
        _ = await running.result
    }

    private static func run(
        _ listener: AsyncSocket, _ pool: PatientPool, _ site: InspectorSite
    ) async throws {
        // Nothing can be done about a descriptor that does not close.
        defer { try? listener.close() }
        try await withThrowingDiscardingTaskGroup { group in
            group.addTask { try await pool.run() }
            while !Task.isCancelled {
                do {
                    let socket = try await listener.accept()
                    group.addTask { await serve(socket, site) }
                } catch {
                    // The process has no descriptor left, or the peer is gone already.
                    try await Task.sleep(for: .milliseconds(100))
                }
            }
            group.cancelAll()
        }
    }

    private static func serve(_ socket: AsyncSocket, _ site: InspectorSite) async {
        defer {
            site.connections.subtract(1, ordering: .relaxed)
            try? socket.close()
        }
        guard site.connections.add(1, ordering: .relaxed).newValue <= connectionLimit else { return }
        do {
            // Small messages that follow each other would wait for acknowledgements (RFC 9293 §3.7.4).
            try socket.socket.setValue(
                true, for: BoolSocketOption(level: Int32(IPPROTO_TCP), name: TCP_NODELAY))
            let read = try await within(site.limits.patience) {
                try await RequestHead.read(from: socket, limit: headLimit)
            }
            let response = await respond(to: read?.head, site)
            try await socket.write(Data(response.bytes))
            guard let session = response.session, let rest = read?.rest else { return }
            let outbox = MessageOutbox(byteLimit: site.limits.outbox)
            await SessionSocket(socket: socket, outbox: outbox, session: session(outbox)).run(Array(rest))
        } catch {
            // The browser is gone, or too slow.
        }
    }

    /// - Parameter head: the bytes of the head; `nil` if there are too many.
    private static func respond(
        to head: ArraySlice<UInt8>?, _ site: InspectorSite
    ) async -> InspectorResponse {
        guard let head else { return .text(.requestHeaderFieldsTooLarge, "the head is too large") }
        guard let request = RequestHead(head) else { return .text(.badRequest, "malformed") }
        guard request.method == "GET" else { return .text(.methodNotAllowed, "only GET") }
        let verdict = Gate(token: site.token).verdict(
            path: request.path, host: request.host, origin: request.fields[.origin])
        let routes: [InspectorRoute]
        let path: String
        switch verdict {
        case .open(let rest): (routes, path) = (InspectorRoute.all(site), rest)
        case .unlisted(let rest) where site.settings.isListed: (routes, path) = (InspectorRoute.listing, rest)
        case .forbidden: return .text(.forbidden, "only for this machine and its browser's developer tools")
        case .unlisted, .unknown: return .text(.notFound, "not found")
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
#endif
