#if Inspector
import FlyingFox
import FlyingSocks
import FoundationEssentials

#if canImport(Glibc)
import Glibc
#elseif canImport(Darwin)
import Darwin
#endif

/// The HTTP server of an inspector, on 127.0.0.1.
final class InspectorServer: Sendable {
    /// The port it listens on.
    let port: UInt16
    private let server: HTTPServer
    private let running: Task<Void, any Error>

    /// Returns when the server is listening.
    init(_ site: InspectorSite) async throws(Inspector.StartError) {
        do {
            let server = HTTPServer(
                config: HTTPServer.Configuration(
                    address: try sockaddr_in.inet(ip4: "127.0.0.1", port: site.settings.port),
                    pool: PromptSockets(patience: Self.patience), logger: .disabled),
                handler: ClosureHTTPHandler { request in await Self.respond(to: request, site).guarded })
            let running = Task { try await server.run() }
            do {
                try await server.waitUntilListening(timeout: 10)
            } catch {
                running.cancel()
                // The error of the listening socket says more than that waiting was in vain.
                try await running.value
                throw error
            }
            guard case .ip4(_, let port) = await server.listeningAddress else {
                running.cancel()
                throw SocketError.unsupportedAddress
            }
            (self.server, self.running, self.port) = (server, running, port)
        } catch {
            throw Inspector.StartError(
                description: "the inspector cannot listen on port \(site.settings.port): \(error)")
        }
    }

    /// The time after which a browser that reads nothing is disconnected.
    private static let patience = Duration.seconds(15)

    private static func respond(to request: HTTPRequest, _ site: InspectorSite) async -> HTTPResponse {
        guard request.method == .GET else { return .text(.methodNotAllowed, "only GET") }
        let gate = Gate(token: site.token)
        let verdict = gate.verdict(
            // `request.path` has no slash at the end.
            path: request.target.path(), host: request.headers[.host],
            origin: request.headers[HTTPHeader("Origin")])
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

    /// Closes all connections and returns when they are gone.
    func stop() async {
        await server.stop()
        running.cancel()
        _ = await running.result
    }
}

extension HTTPResponse {
    /// The response with the fields that keep the token in this browser window: no copies, no `Referer`, no frames.
    fileprivate var guarded: HTTPResponse {
        var response = self
        response.headers[HTTPHeader("Cache-Control")] = "no-store"
        response.headers[HTTPHeader("Referrer-Policy")] = "no-referrer"
        response.headers[HTTPHeader("X-Content-Type-Options")] = "nosniff"
        response.headers[HTTPHeader("X-Frame-Options")] = "DENY"
        return response
    }
}
#endif
