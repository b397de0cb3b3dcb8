import FoundationEssentials
import HTTPTypes
import RxClient
import RxCurl
import RxHTTP
import RxLite
import RxLoop
import Synchronization
import TestServers
import Testing

/// Streams of a loop that ends, or has ended: each of them ends, too, exactly once.
@Suite(.serialized, .timeLimit(.minutes(1))) struct LoopEndTests {
    private static func transport() -> CurlTransport {
        var configuration = CurlTransport.Configuration()
        configuration.proxy = .none
        return CurlTransport(loop: EventLoop(name: "ending"), configuration: configuration)
    }

    /// Whether the transport is created before its loop ends.
    @Test(
        arguments: [true, false],
        [
            ("http://127.0.0.1:1/", NetworkError.Code.shutDown), ("ftp://127.0.0.1/", .invalidURL),
        ])
    func theTransport(isMadeBefore: Bool, request: (url: String, code: NetworkError.Code)) async throws {
        let loop = EventLoop(name: "ended")
        let early = isMadeBefore ? CurlTransport(loop: loop) : nil
        loop.shutDown()
        let transport = early ?? CurlTransport(loop: loop)
        let stream = transport.send(try .to(request.url))
        let error = await #expect(throws: NetworkError.self) { _ = try await stream.value() }
        #expect(error?.code == request.code)
        #expect(error?.isUnsent == true)
    }

    enum Call: CaseIterable {
        case good, badHeader, badURL, withSession, withoutCredential

        var code: NetworkError.Code {
            switch self {
            case .good, .withSession, .withoutCredential: .shutDown
            case .badHeader: .invalidHeader
            case .badURL: .invalidURL
            }
        }

        func stream(of transport: CurlTransport) -> Observable<Response, NetworkError> {
            var configuration = ClientConfiguration(baseURL: "http://127.0.0.1:1")
            configuration.options.timeouts = Timeouts(total: .seconds(3600))
            let plain = Client(configuration: configuration, transport: transport)
            let logIn: @Sendable () -> Observable<Credential, NetworkError> = {
                plain.get("/login").map { _ in Credential(token: "t") }
            }
            switch self {
            case .withSession:
                configuration.session = Session(credential: Credential(token: "t"), login: logIn)
            case .withoutCredential:
                let expired = Credential(token: "t", expires: Date(timeIntervalSince1970: 0))
                configuration.session = Session(credential: expired, login: logIn)
            default: break
            }
            let client = Client(configuration: configuration, transport: transport)
            switch self {
            case .good, .withSession, .withoutCredential: return client.get("/")
            case .badHeader: return client.get("/", headers: ["A": "a\nb"])
            case .badURL: return client.get("ht tp://")
            }
        }
    }

    @Test(arguments: Call.allCases) func aClient(call: Call) async throws {
        let transport = Self.transport()
        transport.loop.shutDown()
        let error = await #expect(throws: NetworkError.self) {
            _ = try await call.stream(of: transport).value()
        }
        #expect(error?.code == call.code)
    }

    @Test func retriesThatWaitOnALoopThatHasEnded() async throws {
        let transport = Self.transport()
        transport.loop.shutDown()
        let policy = RetryPolicy<NetworkError> { _, history in
            history.count < 3 ? .milliseconds(1) : nil
        }
        let stream = transport.send(try .to("http://127.0.0.1:1/")).retry(policy)
        let error = await #expect(throws: NetworkError.self) { _ = try await stream.value() }
        #expect(error?.code == .shutDown)
    }

    @Test func whatRunsAndWhatWaitsForItsRetryEndsOnce() async throws {
        let count = 50
        let server = try RawServer([
            [.readRequest, .send("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nabc"), .waitForClientClose]
        ])
        let dead = try DeadPort(.refusing)
        let transport = Self.transport()
        let waiting = Board(0)
        let policy = RetryPolicy<NetworkError> { error, _ in
            guard error.code != .shutDown else { return nil }
            waiting.update { $0 += 1 }
            return .seconds(3600)
        }
        let running = try (0..<count).map { _ in
            Recording(transport.send(try .to(server.baseURL)).retry(policy))
        }
        let retrying = try (0..<count).map { _ in
            Recording(transport.send(try .to(dead.baseURL)).retry(policy))
        }
        for recording in running { _ = try await recording.until { $0.chunks > 0 ? true : nil } }
        _ = try await waiting.until { $0 == count ? true : nil }
        transport.loop.shutDown()
        for recording in running + retrying {
            let log = try await recording.ended()
            #expect(log.ends.count == 1)
            #expect(log.error?.code == .shutDown)
            #expect(log.afterEnd == 0)
        }
        #expect(waiting.contents == count)
    }

    enum Ending: CaseIterable { case loop, transport }

    /// An endless retry of a running request, which is refused after the end of the transport.
    @Test(arguments: Ending.allCases)
    func retriesWithoutEndHoldNobodyUp(ending: Ending) async throws {
        let server = try RawServer([[.readRequest, .send("HTTP/1.1 200 OK\r\n\r\nabc"), .waitForClientClose]])
        let transport = Self.transport()
        // More than a turn allows, and few enough for the test to end.
        let patience = 1_000_000
        let attempts = Atomic(0)
        let policy = RetryPolicy<NetworkError> { _, history in
            attempts.store(history.count, ordering: .relaxed)
            return history.count < patience ? .zero : nil
        }
        let recording = Recording(transport.send(try .to(server.baseURL)).retry(policy))
        _ = try await recording.until { $0.chunks > 0 ? true : nil }
        if ending == .transport {
            transport.shutDown()
            // Timers and posted work of the loop get their turn nevertheless.
            await transport.loop.pass(.milliseconds(1))
            await transport.loop.poll()
        }
        transport.loop.shutDown()
        #expect(attempts.load(ordering: .relaxed) < patience)
        recording.cancel()
    }

    @Test func anAnswerHeldBackByAPauseIsStillThereAfterTheEnd() async throws {
        let server = try RawServer([[.readRequest, .respond(body: "abc"), .waitForClientClose]])
        let transport = Self.transport()
        let recording = Recording(transport.send(try .to(server.baseURL))) { event, subscription in
            if case .chunk = event { subscription.pause() }
        }
        _ = try await recording.until { $0.chunks > 0 ? true : nil }
        await transport.loop.poll()
        #expect(!recording.hasEnded)
        transport.loop.shutDown()
        recording.resume()
        let log = try await recording.ended()
        #expect(log.kinds == ["head", "chunk", "finished"])
        #expect(log.ends.count == 1)
        #expect(log.afterEnd == 0)
    }

    /// Cancelled before it resumes, or by the first event after that.
    @Test(arguments: [true, false])
    func nothingIsDeliveredToWhoeverCancelledAfterTheEnd(isBefore: Bool) async throws {
        let head = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nTrailer: A\r\n\r\n"
        let body = "3\r\nabc\r\n0\r\nA: b\r\n\r\n"
        let server = try RawServer([[.readRequest, .send(head + body), .waitForClientClose]])
        let transport = Self.transport()
        let recording = Recording(transport.send(try .to(server.baseURL))) { event, subscription in
            switch event {
            case .chunk: subscription.pause()
            case .trailers: subscription.cancel()
            default: break
            }
        }
        _ = try await recording.until { $0.chunks > 0 ? true : nil }
        await transport.loop.poll()
        transport.loop.shutDown()
        if isBefore { recording.cancel() }
        recording.resume()
        #expect(recording.log.kinds == (isBefore ? ["head", "chunk"] : ["head", "chunk", "trailers"]))
        #expect(recording.log.ends.isEmpty)
    }

    @Test func whoeverShutsDownMaySubscribe() async throws {
        let transport = Self.transport()
        let request = try Request.to("http://127.0.0.1:1/")
        let late = Mutex<Recording?>(nil)
        Observable<Int, NetworkError>.just(1).subscribe { _ in
            transport.loop.shutDown()
            late.withLock { $0 = Recording(transport.send(request)) }
        }
        let log = try #require(late.withLock { $0 }).log
        #expect(log.ends.count == 1)
        #expect(log.error?.code == .shutDown)
    }

    @Test func eightThreadsThatSubscribeWhileTheLoopEnds() async throws {
        let good = try Request.to("http://127.0.0.1:1/")
        let bad = try Request.to("ftp://127.0.0.1/")
        for _ in 0..<10 {
            let loop = EventLoop(name: "storm")
            let begun = Board(0)
            let recordings = Mutex<[Recording]>([])
            let threads = try (0..<8).map { _ in
                try JoinableThread {
                    var configuration = CurlTransport.Configuration()
                    configuration.proxy = .none
                    let transport = CurlTransport(loop: loop, configuration: configuration)
                    for index in 0..<40 {
                        let request = index % 2 == 0 ? good : bad
                        let policy = RetryPolicy<NetworkError> { error, history in
                            guard history.count < 2, error.code == .connect else { return nil }
                            return index % 4 == 0 ? .seconds(3600) : .zero
                        }
                        let recording = Recording(transport.send(request).retry(policy))
                        recordings.withLock { $0.append(recording) }
                        begun.update { $0 += 1 }
                    }
                }
            }
            _ = try await begun.until { $0 > 100 ? true : nil }
            loop.shutDown()
            for thread in threads { thread.join() }
            let all = recordings.withLock { $0 }
            #expect(all.count == 320)
            for recording in all {
                let log = try await recording.ended()
                #expect(log.ends.count == 1)
                #expect(log.afterEnd == 0)
            }
        }
    }
}
