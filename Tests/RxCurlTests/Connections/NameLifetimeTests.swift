#if canImport(Glibc)
import HTTPTypes
import RxCurl
import RxHTTP
import RxLite
import RxLoop
import TestServers
import Testing

/// The time for which the address of a name is cached, if the test can change it.
@Suite(.timeLimit(.minutes(1))) struct NameLifetimeTests {
    /// The new address of a name is found once the lifetime has passed.
    @Test(
        .enabled("needs the right to mount") { try await MountedFile.isPossible() },
        arguments: [(Duration.seconds(3600), true), (.zero, false)])
    func lifetime(_ lifetime: Duration, staysAtOldAddress: Bool) async throws {
        let folder = try TemporaryFolder()
        let hosts = try folder.file("hosts", Array("127.0.0.1 moving.test\n".utf8))
        let server = try RawServer { _ in [.respond(200, ["Connection": "close"]), .close] }
        let loop = EventLoop(name: "names")
        defer { loop.shutDown() }
        try await MountedFile.mount(hosts, over: "/etc/hosts", on: loop)
        var configuration = CurlTransport.Configuration()
        configuration.proxy = .none
        configuration.nameLifetime = lifetime
        let transport = CurlTransport(loop: loop, configuration: configuration)
        let url = "http://moving.test:\(server.port)/"
        #expect(try await transport.get(url).status == .ok)

        // Written in place, since the file itself is mounted.
        _ = try folder.file("hosts", Array("127.0.0.2 moving.test\n".utf8))
        if staysAtOldAddress {
            #expect(try await transport.get(url).status == .ok)
        } else {
            let error = await #expect(throws: NetworkError.self) { try await transport.get(url) }
            #expect(error?.code == .connect)
        }
        #expect(server.record.requests.count == (staysAtOldAddress ? 2 : 1))
    }
}
#endif
