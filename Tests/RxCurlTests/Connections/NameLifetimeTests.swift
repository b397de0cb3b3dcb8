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
    private static func canMount() async throws -> Bool {
        try await ChildProcess("/usr/bin/env", ["unshare", "-m", "true"]).ended().ending == .exited(0)
    }

    /// Makes the loop's thread, and the threads that curl starts from it, use `hosts` as the system's.
    private func replaceHosts(by hosts: String, on loop: EventLoop) async throws {
        let mounting = try await withCheckedThrowingContinuation { continuation in
            loop.schedule {
                continuation.resume(
                    with: Result {
                        #expect(Namespace.mounts.enter())
                        let script = "mount --make-rprivate / && mount --bind \"$0\" /etc/hosts"
                        return try ChildProcess("/usr/bin/env", ["sh", "-c", script, hosts])
                    })
            }
        }
        #expect(try await mounting.ended().ending == .exited(0))
    }

    @Test(
        "The new address of a name is found once the lifetime has passed",
        .enabled("needs the right to mount") { try await canMount() },
        arguments: [(Duration.seconds(3600), true), (.zero, false)])
    func lifetime(_ lifetime: Duration, staysAtOldAddress: Bool) async throws {
        let folder = try TemporaryFolder()
        let hosts = try folder.file("hosts", Array("127.0.0.1 moving.test\n".utf8))
        let server = try RawServer { _ in [.respond(200, ["Connection": "close"]), .close] }
        let loop = EventLoop(name: "names")
        defer { loop.shutDown() }
        try await replaceHosts(by: hosts, on: loop)
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
