#if canImport(Glibc)
import Glibc
import RxCurl
import RxHTTP
import RxLite
import TestServers
import Testing

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
