import Foundation
import TestServers
import Testing

@Suite(.timeLimit(.minutes(2))) struct FlagTests {
    /// A server's own authority is trusted if the option names it, and HTTP/2 is used on request.
    @Test func authoritiesAndVersions() async throws {
        let server = try NginxServer()
        let distrusting = try DriverProcess()
        let trusting = try DriverProcess("--cacert", server.certificatePath)
        let modern = try DriverProcess("--cacert", server.certificatePath, "--http2")
        let url = server.tlsBaseURL + "/echo"
        let refused = try await distrusting.fetch(1, url)
        #expect(refused.error?.hasPrefix("tls") == true)
        #expect(try await trusting.fetch(1, url).version == "HTTP/1.1")
        #expect(try await modern.fetch(1, url).version == "HTTP/2.0")
        for driver in [distrusting, trusting, modern] { #expect(try await driver.end().ending == .exited(0)) }
    }

    @Test func everythingGoesThroughAProxy() async throws {
        let proxy = try RawServer { request in [.respond(200, body: request.target)] }
        let driver = try DriverProcess("--proxy", proxy.baseURL)
        let url = "http://behind.invalid/a?b"
        let answer = try await driver.fetch(1, url)
        #expect(answer.text == url)
        #expect(answer.url == url)
        #expect(try await proxy.nextRequest().field("Host") == "behind.invalid")
    }
}

extension Answer {
    /// The protocol that nginx was reached with.
    fileprivate var version: String? {
        struct Echo: Decodable { let `protocol`: String }
        return body.flatMap { try? JSONDecoder().decode(Echo.self, from: Data($0)) }?.protocol
    }
}
