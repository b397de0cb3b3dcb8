#if Tracing
import FoundationEssentials
import HTTPTypes
import InMemoryTracing
import RxClient
import RxHTTP
import RxLite
import RxTesting
import RxTracing
import Synchronization
import Testing
import Tracing

/// The parent of a call is the context of its subscriber, wherever the call runs.
@Suite struct ParentTests {
    private struct Goods: Endpoint {
        typealias Output = [Int]
        let path = "/goods"
    }

    private func fixture() -> TracingFixture {
        TracingFixture([
            .when(.get, "/v1/goods", .json("[1, 2]", after: .milliseconds(5)), .json("[3]")),
            .when(.get, "/v1/more", .json("[]", after: .milliseconds(5))),
            .when(
                .get, "/v1/feed",
                .bytes(
                    Array("data: 1\n\n".utf8), headers: [.contentType: "text/event-stream"])),
        ])
    }

    @Test func withoutAContextACallIsARoot() throws {
        let fixture = fixture()
        _ = Recorder(fixture.client.get("/more"), on: fixture.clock)
        try fixture.clock.run()
        #expect(fixture.calls.map(\.parentSpanID) == [nil])
    }

    /// Chains in which a call begins in the middle of a subscription, where no value of a task is left.
    /// With the number of calls.
    private static let chains:
        [(String, @Sendable (TracingFixture) -> Observable<Void, NetworkError>, calls: Int)] = [
            ("get", { $0.client.get("/more").map { _ in } }, 1),
            (
                "flatMap",
                { fixture in
                    fixture.client.get("/goods").flatMap { _ in fixture.client.get("/more") }.map { _ in }
                }, 2
            ),
            (
                "another scheduler",
                { fixture in
                    fixture.client.get("/goods").observe(on: fixture.elsewhere)
                        .flatMap { _ in fixture.client.get("/more") }.map { _ in }
                }, 2
            ),
            (
                "a timer",
                { fixture in
                    Observable<Void, Never>.timer(.milliseconds(3), on: fixture.clock)
                        .setFailureType(to: NetworkError.self)
                        .flatMap { _ in fixture.client.get("/more") }.map { _ in }
                }, 1
            ),
            ("pages", { $0.client.items(Goods(), .numbered(size: 2)).map { _ in } }, 2),
            ("share", { $0.client.get("/goods").share().map { _ in } }, 1),
            ("events", { $0.client.events(.get("/feed")).take(2).map { _ in } }, 1),
            ("stream", { $0.client.stream(.get("/more")).chunks().map { _ in } }, 1),
        ]

    @Test(arguments: chains.indices) func theSubscribersContextIsTheParent(_ index: Int) throws {
        let fixture = fixture()
        let (name, chain, count) = Self.chains[index]
        let outer = fixture.inSpan { _ = Recorder(chain(fixture), on: fixture.clock) }
        for _ in 0..<3 {
            try fixture.clock.advance(by: .seconds(1))
            try fixture.elsewhere.run()
        }
        #expect(fixture.calls.count == count, "\(name)")
        #expect(fixture.calls.allSatisfy { $0.parentSpanID == outer.spanID }, "\(name)")
        #expect(fixture.calls.allSatisfy { $0.traceID == outer.traceID }, "\(name)")
    }

    @Test func subscribersAtTheSameTimeKeepTheirOwn() throws {
        let fixture = fixture()
        let chain = fixture.client.get("/goods").flatMap { _ in fixture.client.get("/more") }
        let spans = (0..<3).map { _ in fixture.inSpan { _ = Recorder(chain, on: fixture.clock) } }
        try fixture.clock.run()
        let parents = fixture.calls.map(\.parentSpanID)
        for span in spans { #expect(parents.count { $0 == span.spanID } == 2) }
    }

    /// A subscription with a scope that the app makes has the context of its caller, as that of `subscribe` has.
    @Test func aScopeOfTheAppHasTheContextOfItsCaller() throws {
        let fixture = fixture()
        let outer = fixture.inSpan {
            let scope = Scope(scheduler: fixture.clock)
            scope.enter {
                fixture.client.get("/goods").subscribe(
                    Observer(scope: scope, next: { _ in }, end: { _ in scope.close() }))
            }
        }
        try fixture.clock.run()
        #expect(fixture.calls.map(\.parentSpanID) == [outer.spanID])
    }

    @Test func awaitedCallsHaveTheContextOfTheTask() async throws {
        let fixture = fixture()
        let span = fixture.tracer.startSpan("outer", context: .topLevel)
        async let response = ServiceContext.withValue(span.context) {
            try await fixture.client.get("/more").value()
        }
        while fixture.transport.runningCount == 0 { await Task.yield() }
        try fixture.clock.run()
        _ = try await response
        #expect(fixture.calls.map(\.parentSpanID) == [span.spanID])
    }

    @Test func aSpanWithinAnAwaitedStepIsTheNearerParent() async throws {
        let fixture = fixture()
        let outer = fixture.tracer.startSpan("outer", context: .topLevel)
        let inner = Mutex<InMemorySpan?>(nil)
        let chain = fixture.client.get("/goods").flatMap { _ in
            Observable<Response, NetworkError>.async { () throws(NetworkError) in
                let span = fixture.tracer.startSpan("inner")
                inner.withLock { $0 = span }
                let result = await ServiceContext.withValue(span.context) {
                    await fixture.client.get("/more").materializedValue()
                }
                return try result.get()
            }
        }
        let ended = Mutex(false)
        ServiceContext.withValue(outer.context) {
            _ = chain.subscribe(onNext: { _ in }, onEnd: { _ in ended.withLock { $0 = true } })
        }
        while !ended.withLock({ $0 }) {
            try fixture.clock.run()
            await Task.yield()
        }
        let span = try #require(inner.withLock { $0 })
        #expect(fixture.calls.map(\.parentSpanID) == [outer.spanID, span.spanID])
    }
}

extension Observable where Failure == NetworkError {
    /// The outcome of the awaited value.
    fileprivate func materializedValue() async -> Result<Element, NetworkError> {
        do throws(NetworkError) { return .success(try await value()) } catch { return .failure(error) }
    }
}
#endif
