import FoundationEssentials
import HTTPTypes
import RxHTTP
import RxLite
import RxParameters
import RxTesting
import Synchronization
import Testing

@testable import RxClient

/// Accessories, the indicator and error tips, for every end of a request.
@Suite struct AccessoryTests {
    private final class Journal: Sendable {
        private let lines = Mutex<[String]>([])
        var all: [String] { lines.withLock { $0 } }
        func note(_ line: String) { lines.withLock { $0.append(line) } }

        var accessory: Accessory {
            Accessory(
                willStart: { self.note("will start \($0.url.path)") },
                willStop: { self.note("will stop \(Self.text($1))") },
                didStop: { self.note("did stop \(Self.text($1))") })
        }

        private static func text(_ outcome: RequestOutcome) -> String {
            switch outcome {
            case .succeeded: "succeeded"
            case .failed(let error): error.code.rawValue
            case .cancelled: "cancelled"
            }
        }
    }

    private let clock = VirtualScheduler()
    private let journal = Journal()

    private func client(
        _ answer: @escaping @Sendable (Request) -> ScriptedTransport.Reply,
        _ change: (inout ClientConfiguration) -> Void = { _ in }
    ) -> Client {
        var configuration = ClientConfiguration(baseURL: "https://shop.test")
        configuration.options.retry = .never
        configuration.options.accessories = [journal.accessory]
        change(&configuration)
        return Client(
            configuration: configuration, transport: ScriptedTransport(on: clock, reply: answer))
    }

    private func start(_ stream: Observable<Response, NetworkError>) -> Subscription {
        stream.subscribe(
            onNext: { _ in self.journal.note("value") },
            onEnd: { completion in
                if case .failed = completion {
                    self.journal.note("failure")
                } else {
                    self.journal.note("end")
                }
            })
    }

    /// Success: will start, will stop before the result is delivered, did stop after.
    @Test func success() throws {
        let client = client { _ in .json("1") }
        _ = start(client.get("/x"))
        #expect(client.activity.count.value == 1)
        try clock.run()
        #expect(
            journal.all == [
                "will start /x", "will stop succeeded", "value", "end", "did stop succeeded",
            ])
        #expect(client.activity.count.value == 0)
    }

    /// Failure: the same order around the failure, which is an error tip.
    @Test func failure() throws {
        let client = client { _ in .failure(.connectionLost) }
        let tips = Recorder(client.errorTips, on: clock)
        _ = start(client.get("/x"))
        try clock.run()
        #expect(
            journal.all == [
                "will start /x", "will stop connectionLost", "failure", "did stop connectionLost",
            ])
        #expect(tips.values.map(\.code) == [.connectionLost])
        #expect(client.activity.count.value == 0)
    }

    /// Parameters that cannot be serialized fail in the same way.
    @Test func invalid() {
        let client = client { _ in .stall }
        _ = start(client.post("/x", .json(["a": Double.nan])))
        #expect(
            journal.all == [
                "will start /x", "will stop invalidParameters", "failure", "did stop invalidParameters",
            ])
    }

    /// Cancelled by the subscriber, and by an operator that needs no more values.
    @Test func cancel() throws {
        let client = client { request in request.url.path == "/x" ? .stall : .json("1") }
        let tips = Recorder(client.errorTips, on: clock)
        let subscription = start(client.get("/x"))
        subscription.cancel()
        subscription.cancel()
        #expect(journal.all == ["will start /x", "will stop cancelled", "did stop cancelled"])
        _ = start(client.get("/y").take(1))
        try clock.run()
        #expect(
            journal.all.dropFirst(3) == [
                "will start /y", "will stop succeeded", "did stop succeeded", "value", "end",
            ])
        #expect(client.activity.count.value == 0)
        #expect(tips.values.isEmpty)
    }

    /// Cancelling through the client calls no subscriber.
    @Test func cancelByClient() throws {
        let client = client { _ in .stall }
        let tips = Recorder(client.errorTips, on: clock)
        let subscription = start(client.get("/x"))
        client.cancel(.all)
        try clock.run()
        #expect(journal.all == ["will start /x", "will stop cancelled", "did stop cancelled"])
        #expect(!subscription.isActive)
        #expect(client.activity.count.value == 0)
        #expect(tips.values.isEmpty)
    }

    /// Attempts, a login and redirects are one request.
    @Test func attempts() throws {
        let script = Script([
            .status(.serviceUnavailable), .status(.found, headers: [.location: "/y"]),
            .failure(.connectionLost), .json("1"),
        ])
        let client = client({ _ in script.next() }) { $0.options.retry = .exponentialBackoff(maxRetries: 3) }
        let counts = Recorder(client.activity.count.observable, on: clock)
        _ = start(client.get("/x"))
        try clock.run()
        #expect(journal.all.count == 5)
        #expect(counts.values == [0, 1, 0])

        let fixture = LoginFixture()
        let loginCounts = Recorder(fixture.client.activity.count.observable, on: fixture.clock)
        let answer = fixture.get("/goods")
        try fixture.clock.run()
        #expect(answer.values == [#""/goods""#])
        #expect(loginCounts.values == [0, 1, 0])
    }

    /// A stream of chunks has its outcome at its end.
    @Test func stream() throws {
        let client = client { _ in .json("1") }
        client.stream(.get("/x")).filter { if case .chunk = $0 { true } else { false } }
            .subscribe(onNext: { _ in self.journal.note("chunk") })
        try clock.run()
        #expect(journal.all == ["will start /x", "chunk", "will stop succeeded", "did stop succeeded"])
    }

    /// Each can be excluded by an option.
    @Test(arguments: [
        Presentation.hidden, .indicator, .accessories, .errorTips, .all, [.indicator, .errorTips],
    ])
    func presentation(presentation: Presentation) throws {
        let client = client { _ in .failure(.connect) }
        let tips = Recorder(client.errorTips, on: clock)
        let counts = Recorder(client.activity.count.observable, on: clock)
        var call = InlineEndpoint(.get, "/x")
        call.options.presentation = presentation
        client.request(call).subscribe()
        try clock.run()
        #expect(journal.all.isEmpty == !presentation.contains(.accessories))
        #expect(tips.values.isEmpty == !presentation.contains(.errorTips))
        #expect(counts.values.count == (presentation.contains(.indicator) ? 3 : 1))
    }

    /// The indicator ends with the last request.
    @Test func indicator() throws {
        let client = client { request in .json("1", after: .milliseconds(request.url.path == "/1" ? 10 : 30))
        }
        let shown = Recorder(client.activity.isActive.observable, on: clock)
        for path in ["/1", "/2", "/1"] { _ = start(client.get(path)) }
        #expect(client.activity.count.value == 3)
        try clock.advance(to: .milliseconds(20))
        #expect(client.activity.count.value == 1)
        try clock.run()
        #expect(shown.values == [false, true, false])
    }

    /// The options of an endpoint add accessories to the client's.
    @Test func addedByOptions() throws {
        let own = Journal()
        let client = client { _ in .json("1") }
        var call = InlineEndpoint(.get, "/x")
        call.options.accessories = [own.accessory]
        client.request(call).subscribe()
        client.get("/y").subscribe()
        try clock.run()
        #expect(own.all == ["will start /x", "will stop succeeded", "did stop succeeded"])
        #expect(journal.all.filter { $0.hasPrefix("will start") } == ["will start /x", "will start /y"])
        #expect(journal.all.count == 6)
    }

    /// The indicator stays on while a request replaces another.
    @Test func replaced() throws {
        let client = client { _ in .json("1", after: .milliseconds(10)) }
        let shown = Recorder(client.activity.isActive.observable, on: clock)
        let keywords: MarbleSource<String, Never> = try clock.hot("-a--b--c----------|")
        keywords.observable.flatMap(.latest) { client.get("/search", query: ["q": $0]).asResult() }
            .subscribe()
        try clock.run()
        #expect(shown.values == [false, true, false])
        #expect(client.activity.count.value == 0)
    }

    private struct NumberList: Endpoint {
        typealias Output = [Int]
        let path = "/list"
    }

    /// A screen can count the first page of a list only.
    @Test func firstPage() throws {
        let client = client { _ in .json("[1,2]", after: .milliseconds(10)) }
        let screen = Activity()
        let shown = Recorder(screen.isActive.observable, on: clock)
        let (next, reload) = (Signal<Void>(), Signal<Void>())
        client.pages(NumberList(), .numbered(size: 2), next: next, reload: reload)
            .tracked(by: screen, while: { $0.phase == .loadingFirst }).subscribe()
        try clock.advance(by: .milliseconds(20))
        #expect(shown.values == [false, true, false])
        next.send()
        try clock.advance(by: .milliseconds(20))
        #expect(shown.values == [false, true, false])
        reload.send()
        try clock.advance(by: .milliseconds(20))
        #expect(shown.values == [false, true, false, true, false])
    }
}
