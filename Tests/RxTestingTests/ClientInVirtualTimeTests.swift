import FoundationEssentials
import HTTPTypes
import RxClient
import RxHTTP
import RxLite
import RxTesting
import Testing

/// Parts of the client that could leave virtual time, or whose order could differ from run to run.
@Suite struct ClientInVirtualTimeTests {
    /// A limiter and a breaker without a clock take the virtual one.
    @Test func clocks() throws {
        let clock = VirtualScheduler()
        let transport = ScriptedTransport(on: clock) { _ in .status(.internalServerError) }
        let client = Client(
            configuration: ClientConfiguration(baseURL: "https://a.test"), transport: transport)
        let limiter = RequestLimiter(total: RequestLimits(concurrency: 1, rate: .perSecond(1)))
        let recorders = (0..<3).map { _ in
            Recorder(client.response(.get("/")).limited(by: limiter), on: clock)
        }
        try clock.run()
        #expect(transport.exchanges.map(\.startedAt) == [.zero, .seconds(1), .seconds(2)])
        #expect(recorders.allSatisfy { $0.completion != nil })

        let breaker = CircuitBreaker(
            CircuitBreaker.Policy(failureRatio: 0.5, minimumRequests: 1, openDuration: .seconds(3600)))
        func send() throws -> Bool {
            let count = transport.requests.count
            let recorder = Recorder(client.response(.get("/")).circuitBreaker(breaker), on: clock)
            try clock.advance(by: .seconds(1))
            recorder.cancel()
            return transport.requests.count > count
        }
        #expect(try send())
        #expect(try !send())
        try clock.advance(by: .seconds(3600))
        #expect(try send())
    }

    /// Never responds, and notes the ends of its exchanges.
    private struct Silent: Transport {
        let scheduler: any Scheduler
        let ends: Log<String>
        func send(_ request: Request) -> Observable<TransferEvent, NetworkError> {
            Observable(scheduler: scheduler) { observer in
                observer.scope.onClose { ends.add(request.url.path) }
            }
        }
    }

    /// Requests that one call cancels end in the order in which they began.
    @Test func orderOfCancels() throws {
        let clock = VirtualScheduler()
        let ends = Log<String>()
        let client = Client(
            configuration: ClientConfiguration(baseURL: "https://a.test"),
            transport: Silent(scheduler: clock, ends: ends))
        let recorders = (0..<20).map { Recorder(client.get("/\($0)"), on: clock) }
        try clock.advance(by: .seconds(1))
        #expect(client.cancel(.all) == recorders.count)
        try clock.run()
        #expect(ends.entries == (0..<20).map { "/\($0)" })
    }

    /// A long line of JSON is decoded in virtual time.
    @Test func longLines() throws {
        let clock = VirtualScheduler()
        let line = "\"\(String(repeating: "a", count: 300_000))\"\n"
        let client = Client(
            configuration: ClientConfiguration(baseURL: "https://a.test"),
            transport: ScriptedTransport(on: clock) { _ in .bytes(Array(line.utf8)) })
        let lines = Recorder(client.stream(.get("/")).jsonLines(String.self), on: clock)
        try clock.run()
        #expect(lines.values.map(\.count) == [300_000])
    }
}
