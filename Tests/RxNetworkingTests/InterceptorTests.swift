import Foundation
import RxNetworking
import TestServers
import Testing

/// The included interceptors over real sockets.
@Suite(.timeLimit(.minutes(1))) struct InterceptorTests {
    private func client(_ server: RawServer, _ interceptors: Interceptors) -> Client {
        var configuration = ClientConfiguration()
        configuration.options.retry = .exponentialBackoff(backoff: .constant(.milliseconds(1)))
        configuration.options.interceptors = interceptors
        return Client(baseURL: server.baseURL, configuration: configuration)
    }

    @Test func aPostWithAKeyIsRetriedAfterAReset() async throws {
        let server = try RawServer { _ in [.respond(503, ["Connection": "close"], body: "no"), .close] }
        let client = client(server, Interceptors(call: [.idempotencyKeys()]))
        await #expect(throws: NetworkError.self) { try await client.post("/orders", ["goods": 7]).value() }
        let keys = server.record.requests.map { $0.field("Idempotency-Key") ?? "" }
        #expect(keys.count == 3 && Set(keys).count == 1 && keys[0].count == 38)
    }

    @Test func aBodyThatIsDamagedOnTheWayIsFoundOut() async throws {
        let digest = "sha-256=:RK/0qy18MlBSVnWgjwz6lZEWjP/lF5HF9bvEF8FabDg=:"
        let server = try RawServer { request in
            let body = request.target == "/whole" ? "{\"hello\": \"world\"}\n" : "{\"hello\": \"World\"}\n"
            return [.respond(200, ["Content-Digest": digest], body: body)]
        }
        let client = client(server, Interceptors(exchange: [.contentDigestVerification()]))
        #expect(try await client.get("/whole").value().text == "{\"hello\": \"world\"}\n")
        let error = await #expect(throws: NetworkError.self) { try await client.get("/damaged").value() }
        #expect(error?.code == .digestMismatch && error?.attempt == 3)
    }
}
