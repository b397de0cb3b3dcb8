import RxCurl
import RxHTTP
import RxLite
import RxLoop
import Synchronization
import TestServers
import Testing

/// Many threads, several transports, and their shutdown.
@Suite(.serialized, .timeLimit(.minutes(2))) struct ThreadTests {
    /// The numbers of responses and ends that each of many requests received.
    private struct Tally {
        var answers: [Int]
        var ends: [Int]
        var wrong = 0
        var ended = 0

        init(count: Int) {
            answers = Array(repeating: 0, count: count)
            ends = answers
        }
    }

    /// One transport, two, and one on two loops.
    @Test(arguments: [(1, 1), (2, 1), (1, 2)])
    func eightThreadsOnSoManyTransports(transportCount: Int, loopCount: Int) async throws {
        let (threadCount, count) = (8, 2000)
        let url = try NginxServer.shared().baseURL + "/json"
        let body = Array(NginxServer.json.utf8)
        let tally = Board(Tally(count: threadCount * count))
        let loops = (0..<transportCount * loopCount).map { EventLoop(name: "many \($0)") }
        defer { for loop in loops { loop.shutDown() } }
        var configuration = CurlTransport.Configuration()
        configuration.proxy = .none
        let transports = (0..<transportCount).map { index in
            let own = loops[index * loopCount..<(index + 1) * loopCount]
            return CurlTransport(loops: Array(own), configuration: configuration)
        }
        let request = try Request.to(url)
        let threads = try (0..<threadCount).map { thread in
            let transport = transports[thread % transportCount]
            return try JoinableThread {
                let slots = Slots(16)
                for index in (thread * count)..<((thread + 1) * count) {
                    slots.take()
                    transport.send(request).response(to: request).subscribe(
                        onNext: { response in
                            tally.update {
                                $0.answers[index] += 1
                                if response.body != body { $0.wrong += 1 }
                            }
                        },
                        onEnd: { completion in
                            tally.update {
                                $0.ends[index] += 1
                                $0.ended += 1
                                if case .failed = completion { $0.wrong += 1 }
                            }
                            slots.give()
                        })
                }
            }
        }
        _ = try await tally.until { $0.ended == threadCount * count ? true : nil }
        for thread in threads { thread.join() }
        for loop in loops { loop.shutDown() }
        let result = tally.contents
        #expect(result.wrong == 0)
        #expect(result.answers.allSatisfy { $0 == 1 })
        #expect(result.ends.allSatisfy { $0 == 1 })
    }

    // MARK: - Shutting down

    enum Shutdown: CaseIterable { case transport, loop }

    @Test(arguments: Shutdown.allCases)
    func whatRunsEndsOnceWithShutDown(shutdown: Shutdown) async throws {
        let count = 50
        let server = try RawServer([
            [.readRequest, .send("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nabc"), .waitForClientClose]
        ])
        let living = Token.Count()
        let recordings = try await withTransport { transport in
            let request = try Request.to(server.baseURL)
            let stream = transport.send(request).handleEvents(onNext: { [token = Token(living)] _ in
                token.touch()
            })
            let recordings = (0..<count).map { _ in Recording(stream) }
            for recording in recordings { _ = try await recording.until { $0.chunks > 0 ? true : nil } }
            #expect(living.value > 0)
            switch shutdown {
            case .transport:
                transport.shutDown()
                transport.shutDown()
            case .loop: transport.loop.shutDown()
            }
            for recording in recordings { _ = try await recording.ended() }
            for index in 0..<count { #expect(try await server.connectionEnded(index) == .clientClosed) }
            // A later request gets the same error.
            let late = try await Recording(transport.send(request)).ended()
            #expect(late.error?.code == .shutDown)
            #expect(late.error?.isUnsent == true)
            return recordings
        }
        for recording in recordings {
            let log = recording.log
            #expect(log.kinds == ["head", "chunk"])
            #expect(log.ends.count == 1)
            #expect(log.error?.code == .shutDown)
            #expect(log.error?.isUnsent == false)
            #expect(log.afterEnd == 0)
        }
        #expect(living.value == 0)
    }

    @Test func aShutdownInTheMiddleOfAStormEndsEachRequestOnce() async throws {
        let server = try NginxServer.shared()
        let request = try Request.to(server.baseURL + "/text")
        var silent = 0
        for _ in 0..<10 {
            let loop = EventLoop(name: "storm")
            let recordings = Mutex<[Recording]>([])
            let begun = Board(0)
            let threads = try {
                var configuration = CurlTransport.Configuration()
                configuration.proxy = .none
                let transport = CurlTransport(loop: loop, configuration: configuration)
                return try (0..<4).map { _ in
                    try JoinableThread {
                        for _ in 0..<25 {
                            let recording = Recording(transport.send(request))
                            recordings.withLock { $0.append(recording) }
                            begun.update { $0 += 1 }
                        }
                    }
                }
            }()
            _ = try await begun.until { $0 > 30 ? true : nil }
            loop.shutDown()
            for thread in threads { thread.join() }
            let all = recordings.withLock { $0 }
            #expect(all.count == 100)
            // The loop and the threads are gone, and no more events can come.
            for recording in all {
                let log = recording.log
                #expect(log.ends.count <= 1)
                #expect(log.afterEnd == 0)
                if log.ends.isEmpty { silent += 1 }
                if let error = log.error { #expect(error.code == .shutDown) }
            }
        }
        #expect(silent == 0)
    }

    @Test func aTransportThatIsLetGoFinishesWhatRunsAndThenClosesItsConnections() async throws {
        let gate = try Gate()
        let server = try RawServer([
            [
                .readRequest, .send("HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\n"), .wait(gate),
                .send("done"), .waitForClientClose,
            ]
        ])
        let loop = EventLoop(name: "let go")
        defer { loop.shutDown() }
        let recording: Recording
        weak var released: CurlTransport?
        do {
            let transport = CurlTransport(loop: loop)
            released = transport
            recording = Recording(transport.send(try .to(server.baseURL)))
        }
        _ = try await recording.until { $0.head }
        gate.open()
        #expect(try await recording.ended().body == Array("done".utf8))
        #expect(try await server.connectionEnded(0) == .clientClosed)
        #expect(released == nil)
    }
}
