import FlyingFox
import FlyingSocks
import FoundationEssentials

#if canImport(Glibc)
import Glibc
#elseif canImport(Darwin)
import Darwin
#endif

/// An HTTP server on a free port of 127.0.0.1, running in a separate task until it is stopped or the process
/// ends.
final class LoopbackServer: Sendable {
    /// `http://127.0.0.1:port`, with no slash at the end.
    let baseURL: String
    private let server: HTTPServer
    private let running: Task<Void, any Error>

    /// Starts a server that passes all requests to `handler`, and returns when it is listening. A handler that takes
    /// longer than `timeout` seconds is cancelled, and the response is a 500.
    static func start(
        timeout: TimeInterval = 60,
        handler: @escaping @Sendable (HTTPRequest) async throws -> HTTPResponse
    ) async throws -> LoopbackServer {
        let server = HTTPServer(
            config: HTTPServer.Configuration(
                address: try sockaddr_in.inet(ip4: "127.0.0.1", port: 0), timeout: timeout,
                pool: PromptPool(),
                logger: .disabled),
            handler: ClosureHTTPHandler { request in
                let response = try await handler(request)
                return request.method == .HEAD ? response.withoutBody : response
            })
        let running = Task { try await server.run() }
        do {
            try await server.waitUntilListening(timeout: 60)
        } catch {
            running.cancel()
            throw error
        }
        guard case .ip4(_, let port) = await server.listeningAddress else {
            running.cancel()
            throw SocketError.unsupportedAddress
        }
        return LoopbackServer(server: server, running: running, port: port)
    }

    private init(server: HTTPServer, running: Task<Void, any Error>, port: UInt16) {
        self.server = server
        self.running = running
        baseURL = "http://127.0.0.1:\(port)"
    }

    deinit { running.cancel() }

    /// Closes all connections and returns when they are gone.
    func stop() async {
        await server.stop()
        running.cancel()
        _ = await running.result
    }
}

extension HTTPResponse {
    /// The same head, including lengths, without the body (RFC 9110 §9.3.2).
    fileprivate var withoutBody: HTTPResponse {
        guard case .httpBody(let body) = payload else { return self }
        var response = HTTPResponse(version: version, statusCode: statusCode, headers: headers)
        response.headers[.contentLength] = body.count.map(String.init) ?? headers[.contentLength]
        return response
    }
}
