#if ServiceLifecycle
import Logging
import RxClient
import RxHTTP
import RxInspector
import RxLite
import RxNetworking
import RxServices
import RxTesting
import ServiceLifecycle
import ServiceLifecycleTestKit
import Testing

/// Clients and loops as services.
@Suite(.timeLimit(.minutes(1))) struct ServiceTests {
    private let clock = VirtualScheduler()

    private func client() -> Client {
        let transport = ScriptedTransport(
            on: clock,
            [.when(.get, "/slow", .json("[]", after: .seconds(5))), .when(.get, "/stall", .stall)])
        return Client(
            configuration: ClientConfiguration(baseURL: "https://shop.test"), transport: transport)
    }

    @Test func aGracefulShutdownLetsRequestsEndAndRefusesNewOnes() async throws {
        let client = client()
        let running = Recorder(client.get("/slow"), on: clock)
        try await testGracefulShutdown { trigger in
            let service = Task { try await client.run() }
            trigger.triggerGracefulShutdown()
            var late: NetworkError?
            while late == nil {
                await Task.yield()
                let attempt = Recorder(client.get("/stall"), on: clock)
                try clock.advance(by: .zero)
                late = attempt.failure
                attempt.cancel()
            }
            #expect(late?.code == .shutDown)
            #expect(running.values.isEmpty)
            try clock.advance(by: .seconds(5))
            try await clock.advance(untilTheEndOf: service)
            #expect(running.values.count == 1)
        }
    }

    @Test func theLimitEndsTheService() async throws {
        let client = client()
        let running = Recorder(client.get("/stall"), on: clock)
        try await testGracefulShutdown { trigger in
            trigger.triggerGracefulShutdown()
            let service = Task { try await client.run(endingRequestsWithin: .seconds(2)) }
            while running.failure == nil {
                await Task.yield()
                try clock.advance(by: .milliseconds(100))
            }
            try await clock.advance(untilTheEndOf: service)
            #expect(running.failure?.code == .cancelled)
        }
    }

    @Test func aCancelledServiceCancelsItsRequests() async throws {
        let client = client()
        let running = Recorder(client.get("/stall"), on: clock)
        let service = Task { try await client.run() }
        service.cancel()
        while running.failure == nil {
            await Task.yield()
            try clock.advance(by: .zero)
        }
        try await clock.advance(untilTheEndOf: service)
        #expect(running.failure?.code == .cancelled)
    }

    /// A service that copies rows must not take the end of its process for the end of the rows.
    @Test func aGroupThatIsCancelledFailsTheLoopsOfItsServices() async throws {
        struct Copying: Service {
            let rows: Observable<Int, NetworkError>
            let outcome: Signal<NetworkError.Code?>
            func run() async throws {
                do throws(NetworkError) {
                    for try await _ in rows {}
                    outcome.send(nil)
                } catch {
                    outcome.send(error.code)
                }
            }
        }
        let outcome = Signal<NetworkError.Code?>(), begun = Signal<Void>()
        let rows = Observable<Int, NetworkError>.concat([.sequence([1, 2]), .never()])
            .handleEvents(onNext: { _ in begun.send() })
        let codes = outcome.observable.values(buffering: .unbounded).makeAsyncIterator()
        let starts = begun.observable.values(buffering: .unbounded).makeAsyncIterator()
        let group = ServiceGroup(
            configuration: .init(
                services: [.init(service: Copying(rows: rows, outcome: outcome))],
                logger: Logger(label: "test")))
        let running = Task { try await group.run() }
        _ = await starts.next()
        running.cancel()
        #expect(await codes.next() == .cancelled)
        _ = await running.result
    }

    @Test func aGroupEndsTheClientBeforeItsLoop() async throws {
        let loop = EventLoop(name: "service")
        let client = Client(baseURL: "http://127.0.0.1:1", transport: CurlTransport(loop: loop))
        let group = ServiceGroup(
            configuration: .init(
                services: [.init(service: loop), .init(service: client)], logger: Logger(label: "test")))
        let running = Task { try await group.run() }
        // A request that has ended shows that the loop runs.
        _ = try? await client.get("/").value()
        await group.triggerGracefulShutdown()
        try await running.value
        await #expect(throws: NetworkError.self) { try await client.get("/").value() }
    }

    @Test func aGroupStopsTheInspector() async throws {
        let inspector = try await Inspector.start(client())
        let page = try #require(inspector.pageURL.wholeMatch(of: #/(http://[^/]+)(/.*)/#))
        var configuration = ClientConfiguration(baseURL: String(page.1))
        configuration.options.retry = .never
        let browser = Client(configuration: configuration)
        _ = try await browser.get(String(page.2)).value()
        try await testGracefulShutdown { trigger in
            let service = Task { try await inspector.run() }
            trigger.triggerGracefulShutdown()
            try await service.value
        }
        let error = await #expect(throws: NetworkError.self) {
            try await browser.get(String(page.2)).value()
        }
        // The kept connection may be found closed only once the request has been sent.
        #expect([.connect, .connectionLost].contains(error?.code))
    }
}

extension VirtualScheduler {
    /// Runs what is due until a service has ended: its last steps may be scheduled after the test has advanced the time.
    func advance(untilTheEndOf service: Task<Void, any Error>) async throws {
        let running = Task {
            while !Task.isCancelled {
                await Task.yield()
                try advance(by: .zero)
            }
        }
        defer { running.cancel() }
        try await service.value
    }
}
#endif
