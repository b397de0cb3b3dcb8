#if canImport(Glibc)
import Glibc
import HTTPTypes
import RxHTTP
import RxLoop
import TestServers
import Testing

@testable import RxCurl

/// The system's lookups, at a name server that answers only when the test wants it to.
@Suite(.timeLimit(.minutes(1)), .enabled("needs the right to mount") { try await MountedFile.isPossible() })
struct NameLookupTests {
    private let names: NameServer
    private let server: RawServer
    private let folder: TemporaryFolder

    init() throws {
        names = try NameServer(missing: ["missing.test"])
        server = try RawServer { request in [.respond(body: request.field("Host") ?? "")] }
        folder = try TemporaryFolder()
    }

    private func url(_ host: String) -> String { "http://\(host):\(server.port)/" }

    private func withResolver(
        configured configure: (inout CurlTransport.Configuration) -> Void = { _ in },
        _ body: (CurlTransport) async throws -> Void
    ) async throws {
        defer { names.release() }
        let text = "nameserver \(names.address)\noptions timeout:30 attempts:1\n"
        let file = try folder.file("resolv.conf", Array(text.utf8))
        try await withTransport(configured: {
            $0.addressFamily = .ipv4
            configure(&$0)
        }) { transport in
            try await MountedFile.mount(file, over: "/etc/resolv.conf", on: transport.loop)
            try await body(transport)
        }
    }

    /// The numbers of lookups under way and of handles whose requests have ended.
    private func counts(_ transport: CurlTransport) async -> (Int, Int) {
        let multi = transport.multi
        return await transport.loop.run { (multi.lookups.count, multi.lookups.detachedCount) }
    }

    @Test func requestsToOneHostShareALookup() async throws {
        try await withResolver { transport in
            let recordings = try (0..<100).map { _ in Recording(transport.send(try .to(url("one.test")))) }
            try await names.receive(1)
            await transport.loop.poll()
            #expect(await counts(transport) == (1, 0))
            names.release()
            for recording in recordings { #expect(try await recording.ended().error == nil) }
        }
        #expect(names.questions.map(\.name) == ["one.test"])
    }

    @Test func theyShareTheFailure() async throws {
        try await withResolver { transport in
            let recordings = try (0..<20).map { _ in
                Recording(transport.send(try .to(url("missing.test"))))
            }
            try await names.receive(1)
            await transport.loop.poll()
            names.release()
            for recording in recordings {
                let error = try await recording.ended().error
                #expect(error?.code == .resolve)
                #expect(error?.isUnsent == true)
            }
            #expect(await counts(transport) == (0, 0))
        }
        // The resolver may also try the name in the machine's own domain.
        #expect(names.questions.count { $0.name == "missing.test" } == 1)
    }

    /// The first request starts the lookup, and is cancelled.
    @Test func aLookupOutlivesItsRequest() async throws {
        try await withResolver(configured: { $0.maxConnections = 2 }) { transport in
            let first = Recording(transport.send(try .to(url("one.test"))))
            try await names.receive(1)
            let second = Recording(transport.send(try .to(url("one.test"))))
            first.cancel()
            await transport.loop.poll()
            #expect(await counts(transport) == (1, 1))
            // Both connections can be used meanwhile.
            let others = try (0..<2).map { Recording(transport.send(try .to(url("127.0.0.\($0 + 1)")))) }
            for other in others[..<1] { #expect(try await other.ended().error == nil) }
            others[1].cancel()
            names.release()
            #expect(try await second.ended().error == nil)
            await transport.loop.poll()
            #expect(await counts(transport) == (0, 0))
        }
        #expect(names.questions.map(\.name) == ["one.test"])
    }

    /// A request that has waited for a lookup, and is then sent again, without its expectation, to a server that says
    /// nothing more.
    @Test func limitsCountWhenItStartsOver() async throws {
        let server = try RawServer([[.readHead, .respond(417), .close], [.readRequest, .stall]])
        let url = "http://one.test:\(server.port)/"
        try await withResolver { transport in
            let first = Recording(transport.send(try .to(url)))
            try await names.receive(1)
            var request = try Request.to(url, method: .post, body: .text("small"))
            request.continuePolicy = ContinuePolicy(threshold: 1, wait: .seconds(3600))
            request.timeouts.firstByte = .milliseconds(300)
            let second = Recording(transport.send(request))
            await transport.loop.poll()
            first.cancel()
            await transport.loop.poll()
            names.release()
            #expect(try await second.ended().error?.code == .firstByteTimeout)
        }
        #expect(server.record.requests.map { $0.field("Expect") } == ["100-continue", nil])
    }

    /// Each request needs a lookup, and none waits for more than one.
    @Test func withoutACache() async throws {
        try await withResolver(configured: { $0.nameLifetime = .zero }) { transport in
            let recordings = try (0..<80).map { _ in
                var request = try Request.to(url("one.test"))
                request.headerFields[.connection] = "close"
                return Recording(transport.send(request))
            }
            try await names.receive(1)
            names.release()
            for recording in recordings { #expect(try await recording.ended().error == nil) }
        }
    }

    /// A limit that passes when the requests have long been started. libcurl gives a lookup up, which then no longer
    /// counts, if the process stands still inside a call of it from before this limit until a second after it.
    private static let connectLimit = Duration.seconds(2)

    /// No answer for 100 names, whose requests end.
    @Test(arguments: [false, true])
    func lookupsAreBounded(isCancelled: Bool) async throws {
        try await withResolver { transport in
            let recordings = try (0..<100).map { number in
                var request = try Request.to(url("n\(number).test"))
                if !isCancelled { request.timeouts.connect = NameLookupTests.connectLimit }
                return Recording(transport.send(request))
            }
            try await names.receive(32)
            await transport.loop.poll()
            #expect(await counts(transport).0 == 32)
            var codes: [NetworkError.Code: Int] = [:]
            for recording in recordings {
                if isCancelled {
                    recording.cancel()
                } else if let error = try await recording.ended().error {
                    codes[error.code, default: 0] += 1
                    #expect(error.isUnsent)
                }
            }
            if !isCancelled { #expect(codes == [.connectTimeout: 32, .resources: 68]) }
            await transport.loop.poll()
            #expect(await counts(transport) == (32, 32))
            // Addresses need no lookup.
            #expect(try await transport.get(url("127.0.0.1")).status == .ok)
            #expect(names.questions.count == 32)

            // The resolver answers again.
            let late = Recording(transport.send(try .to(url("late.test"))))
            await transport.loop.poll()
            names.release()
            #expect(try await late.ended().error == nil)
            // The other answers are still on their way.
            while await counts(transport) != (0, 0) { await transport.loop.poll() }
        }
        #expect(names.questions.count == 33)
    }

    /// 100 names at once; the queue advances with each answer.
    @Test func allOfAQueueAreLookedUp() async throws {
        try await withResolver { transport in
            let recordings = try (0..<100).map { Recording(transport.send(try .to(url("n\($0).test")))) }
            try await names.receive(32)
            await transport.loop.poll()
            names.release()
            for recording in recordings { #expect(try await recording.ended().error == nil) }
        }
        #expect(Set(names.questions.map(\.name)).count == 100)
    }

    @Test func nothingIsLeftOfAQueue() async throws {
        try await withResolver { transport in
            for number in 0..<40 {
                withExtendedLifetime(Recording(transport.send(try .to(url("n\(number).test"))))) {}
            }
            try await names.receive(32)
            transport.shutDown()
        }
    }

    /// A process with few descriptors whose resolver does not answer.
    @Test func aDeadResolverLeavesDescriptors() async {
        await #expect(processExitsWith: .success) {
            var limit = rlimit()
            unsafe _ = getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
            limit.rlim_cur = 256
            unsafe _ = setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
            let tests = try NameLookupTests()
            try await tests.withResolver { transport in
                var recordings: [Recording] = []
                for number in 0..<300 {
                    var request = try Request.to(tests.url("n\(number).test"))
                    request.timeouts.connect = NameLookupTests.connectLimit
                    recordings.append(Recording(transport.send(request)))
                }
                for recording in recordings {
                    let code = try await recording.ended().error?.code
                    #expect(code == .connectTimeout || code == .resources)
                    #expect(try await transport.get(tests.url("127.0.0.1")).status == .ok)
                }
            }
        }
    }
}
#endif
