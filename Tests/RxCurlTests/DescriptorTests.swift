#if canImport(Glibc)
import Glibc
import RxHTTP
import RxLite
import TestServers
import Testing

@testable import RxCurl

/// A process without a free descriptor. A separate process, since the limit applies to all of it.
@Suite(.timeLimit(.minutes(1))) struct DescriptorTests {
    @Test func theSharedTransportFailsAtFirstAndWorksLater() async {
        await #expect(processExitsWith: .success) {
            let server = try RawServer { _ in [.respond(body: "well")] }
            let request = try Request.to(server.baseURL)
            var limit = rlimit()
            unsafe _ = getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
            var none = limit
            none.rlim_cur = 3
            unsafe _ = setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &none)
            for _ in 0..<2 {
                let log = try await Recording(CurlTransport.shared.send(request)).ended()
                #expect(log.error?.code == .resources)
                #expect(log.error?.systemError == Int(EMFILE))
                #expect(log.error?.isUnsent == true)
                #expect(log.error?.message.contains("EMFILE") == true)
            }
            unsafe _ = setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
            #expect(try await CurlTransport.shared.get(server.baseURL).text == "well")
        }
    }

    /// A child process must not keep connections, files or the loop's descriptors open.
    @Test func noneIsForChildren() async {
        await #expect(processExitsWith: .success) {
            let server = try NginxServer()
            let before = Self.inheritable()
            try await withTransport(caBundlePath: server.certificatePath) { transport in
                let slow = Recording(transport.send(try .to(server.baseURL + "/slow")))
                _ = try await slow.until { $0.head }
                for url in [server.baseURL, server.tlsBaseURL, "http://localhost:\(server.port)"] {
                    _ = try await transport.get(url + "/json")
                }
                let reachability = NetlinkReachability(on: transport.loop)
                reachability.start()
                await transport.loop.poll()
                #expect(Self.inheritable() == before)
                reachability.stop()
                slow.cancel()
            }
        }
    }

    /// The descriptors of this process that a child would inherit. libcurl before 8.8 has sockets of its own among them,
    /// with which it wakes itself up.
    private static func inheritable() -> [Int32] {
        let ignoresOwn = LibcurlFeatures.running.has(.leavesWakeupsToChildren)
        return (3..<1024).filter { descriptor in
            let flags = fcntl(descriptor, F_GETFD)
            return flags >= 0 && flags & FD_CLOEXEC == 0 && !(ignoresOwn && isUnixSocket(descriptor))
        }
    }

    private static func isUnixSocket(_ descriptor: Int32) -> Bool {
        var family: Int32 = 0
        var size = socklen_t(MemoryLayout<Int32>.size)
        return unsafe getsockopt(descriptor, SOL_SOCKET, SO_DOMAIN, &family, &size) == 0 && family == AF_UNIX
    }

    @Test func aLoopThatRunsFailsRequestsOnly() async {
        await #expect(processExitsWith: .success) {
            let server = try RawServer { _ in [.respond(body: "well")] }
            try await withTransport { transport in
                let request = try Request.to(server.baseURL)
                var limit = rlimit()
                unsafe _ = getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
                var none = limit
                none.rlim_cur = 3
                unsafe _ = setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &none)
                let log = try await Recording(transport.send(request)).ended()
                #expect(log.error?.code == .resources)
                #expect(log.error?.systemError == Int(EMFILE))
                #expect(log.error?.isUnsent == true)
                unsafe _ = setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
                #expect(try await transport.get(server.baseURL).text == "well")
            }
        }
    }
}
#endif
